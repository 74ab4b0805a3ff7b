"""Small trainings with other frameworks, each over the ranks that its own variables tell of.

They import their framework when they start: whoever runs them has it.
"""
