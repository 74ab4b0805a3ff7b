"""``/webhooks/``: addresses that are told of what happens to workloads."""

urlpatterns: list[object] = []
