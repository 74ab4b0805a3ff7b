mkdir -p "$own.scratch"
command -v python3 > /dev/null || echo "it has no python3" > "$own.lack"
