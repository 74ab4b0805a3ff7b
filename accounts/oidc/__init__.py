"""Signing in through an identity provider. allauth speaks OpenID Connect; this package judges what
the provider answers, and shows one page for every answer that cannot be used."""
