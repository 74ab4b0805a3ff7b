"""Forms over documents: see docs/adr/0009-one-form-framework.md."""
