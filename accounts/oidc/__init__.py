"""Sign in through an identity provider. allauth implements OpenID Connect. This package checks the
provider's answers, and shows one page for answers that cannot be used."""
