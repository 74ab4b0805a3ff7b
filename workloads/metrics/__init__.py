"""Numbers that trainings report and machines measure: kept, thinned, drawn."""
