"""Steps of the quickstart "Run your First Distributed Training", in the browser."""

from playwright.sync_api import Locator, Page, expect

IMAGE = "kubeflow/pytorch-dist-mnist:latest"


def begin(
    page: Page,
    name: str,
    *,
    cluster: str = "local",
    project: str = "team-a",
    framework: str = "PyTorch",
    workers_only: bool = False,
) -> None:
    """Take steps 3 to 8: fill in the first page of the wizard, and continue to the second."""
    page.goto("/workloads/new/")
    _place(page, cluster, project)
    page.get_by_role("radio", name="Distributed").check()  # the last workload may have been another
    page.get_by_role("radio", name=framework, exact=True).check()
    architecture = "Workers only" if workers_only else "Workers & master"
    page.get_by_role("radio", name=architecture).check()
    _leave(page, name)


def begin_workspace(
    page: Page, name: str, *, cluster: str = "local", project: str = "team-a"
) -> None:
    """Fill in the first page for a workspace, and continue to the second."""
    page.goto("/workloads/new/?kind=workspace")
    _place(page, cluster, project)
    _leave(page, name)


def _place(page: Page, cluster: str, project: str) -> None:
    page.get_by_role("radiogroup", name="Cluster").get_by_role("radio", name=cluster).check()
    page.get_by_role("radio", name=project).check()


def _leave(page: Page, name: str) -> None:
    page.get_by_role("radio", name="Start from scratch").check()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="CONTINUE").click()
    page.wait_for_url("**/2/")


def command(page: Page) -> Locator:
    """Return the field of the command. A button opens it if nothing has filled it in."""
    adds = page.locator(".reveal > summary")
    if adds.is_visible():
        adds.click()
    return page.get_by_label("Command", exact=True)


def output(page: Page, name: str) -> Locator:
    """Open ``yaml``, ``line`` or ``curl`` in the summary, and return it. It then follows what is
    entered."""
    fold = page.locator(f"[data-shows={name}]")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    return page.locator(f"#summary-{name}")


def make_environment(page: Page, name: str, image: str = IMAGE) -> None:
    """Take step 9: create an environment in the drawer, after which it is selected."""
    page.get_by_role("button", name="+NEW ENVIRONMENT").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Name", exact=True).first.fill(name)
    drawer.get_by_label("Image URL").fill(image)
    drawer.get_by_role("button", name="CREATE ENVIRONMENT").click()
    expect(drawer).to_be_hidden()
    expect(page.get_by_role("radio", name=name, exact=True)).to_be_checked()


def make_compute_resource(page: Page, name: str) -> None:
    """Take step 10: create a compute resource with 10 % of a GPU in the drawer."""
    page.get_by_role("button", name="+NEW COMPUTE RESOURCE").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Name", exact=True).first.fill(name)
    drawer.get_by_label("GPU devices per pod").fill("1")
    drawer.get_by_label("GPU memory per device").fill("10")
    drawer.get_by_role("button", name="CREATE COMPUTE RESOURCE").click()
    expect(drawer).to_be_hidden()
    expect(page.get_by_role("radio", name=name, exact=True)).to_be_checked()
