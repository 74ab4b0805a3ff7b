from django.urls import URLPattern, path

from workloads.tools import views

urlpatterns: list[URLPattern] = [
    path("workloads/<uuid:pk>/connect/", views.tool_list, name="tool-list"),
    path("workloads/<uuid:pk>/connect/<slug:slug>/", views.tool_open, name="tool-open"),
    path("tools/auth/<uuid:pk>/<slug:slug>/", views.tool_auth, name="tool-auth"),
    path("tools/signin/<uuid:pk>/<slug:slug>/", views.tool_signin, name="tool-signin"),
]
