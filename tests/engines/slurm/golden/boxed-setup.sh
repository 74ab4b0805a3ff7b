pip install -e .
