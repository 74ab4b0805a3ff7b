"""REST: projects, departments, and the roles of people in them."""
