"""Data that exists somewhere: a claim, a share, a bucket, a repository, a ConfigMap or Secret."""
