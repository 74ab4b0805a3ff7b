export GIT_USER=ada
export GIT_PASSWORD='hunter'"'"'2$x'
