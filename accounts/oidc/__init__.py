"""How the answers of an identity provider are read. allauth asks, and takes for granted that they
are what OpenID Connect says; here each is judged first, and only what is needed is passed on."""
