"""The files by which engine and supervisor communicate."""
