"""REST: workflows in our own form and, under the paths of OSMO, in OSMO's."""
