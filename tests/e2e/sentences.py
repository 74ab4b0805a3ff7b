"""What Run:ai's page "Train models using a distributed training workload" says, and what shows it.

There is one row for each thing that the page promises, in its order. Its policies are left out, and
so are the roles that may do things.
"""

from dataclasses import dataclass

from tests.workloads.wizard.sections import pod_fields, source_fields, volume_fields

FIELDS = "e2e/test_wizard_fields.py::test_every_field_set_in_the_browser_reaches_the_engine"
WIZARD = "workloads/wizard/"
MAIN_JOB = "e2e/test_main_job.py::test_the_quickstart_trains_one_master_and_two_workers"
ITEMS = "e2e/test_wizard_items.py::test_a_volume_and_a_toleration_are_added"
HERE = "e2e/test_sentences.py::"
FIRST_PAGE = f"{HERE}test_the_first_page"
TOOLS = f"{HERE}test_a_tool_is_reached_and_opened_as_the_workload_says"
POOLS = f"{HERE}test_node_pools_are_dragged_moved_removed_and_reset"
SWITCHES = f"{HERE}test_tolerations_and_topology_are_asked_once_they_are_turned_on"
WHO = "e2e/test_wizard_items.py::test_a_tool_is_open_to_names_that_are_added"
COMMAND = "e2e/test_wizard_items.py::test_a_command_is_added_where_there_is_none"
DATA = f"{HERE}test_a_data_source_is_made_chosen_and_mounted_elsewhere"
RANGES = f"{HERE}test_a_value_out_of_range_is_told_at_the_field_and_in_the_summary"
OPEN = "workloads/tools/test_access.py::test_an_email_address_lets_in_whom_alone_it_can_mean"
MASTER = f"{HERE}test_the_master_is_set_up_as_the_workers_or_on_its_own"
ROWS = {row.field: row for row in (*pod_fields.ROWS, *volume_fields.ROWS, *source_fields.ROWS)}


@dataclass(frozen=True)
class Sentence:
    """One promise of the page. ``shown_by`` are tests. ``fields`` are rows of the table of fields,
    each of which is in the stored spec and in what every engine submits."""

    step: int
    says: str
    shown_by: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


def says(step: int, what: str, *shown_by: str, fields: tuple[str, ...] = ()) -> Sentence:
    return Sentence(step, what, shown_by, fields)


BEFORE = (
    says(0, "The workload is assigned to a project", FIRST_PAGE),
    says(
        0,
        "It is affected by the project's quota",
        f"{HERE}test_the_quota_of_the_project_counts",
        f"{WIZARD}test_summary.py::test_the_summary_says_that_a_training_will_wait_for_quota",
    ),
    says(
        0,
        "It spans several nodes",
        "e2e/test_kubernetes.py::test_the_quickstart_trains_across_pods",
    ),
)
SETUP = (
    says(1, "Workload manager → Workloads", FIRST_PAGE),
    says(2, "+NEW WORKLOAD, Training", FIRST_PAGE),
    says(3, "The cluster is selected", FIRST_PAGE),
    says(4, "The project is selected", FIRST_PAGE),
    says(5, "The architecture is Distributed", FIRST_PAGE),
    says(5, "Only environments for distributed training can be chosen", FIRST_PAGE),
    says(5, "PyTorch, TensorFlow, XG Boost or MPI", FIRST_PAGE),
    says(
        5,
        "A framework that is not enabled says why",
        f"{WIZARD}test_gallery.py::test_frameworks_that_the_cluster_lacks_say_why",
    ),
    says(5, "Workers & master or Workers only", FIRST_PAGE, MASTER),
    says(
        6,
        "A template, or Start from scratch",
        FIRST_PAGE,
        f"{WIZARD}test_templates.py::"
        "test_the_gallery_offers_a_template_and_choosing_fills_the_form",
    ),
    says(7, "A name that the project has already is refused", FIRST_PAGE),
    says(8, "CONTINUE", FIRST_PAGE),
)
ENVIRONMENT = (
    says(9, "An environment is selected", FIELDS),
    says(9, "+NEW ENVIRONMENT, which is selected then", MAIN_JOB),
    says(9, "External URL, with a custom one", TOOLS, fields=("External URL", "Custom URL")),
    says(
        9,
        "Access: all who are signed in, groups that one is in, or users",
        WHO,
        fields=(
            "Access: All authenticated users",
            "Access: Specific groups",
            "Access: Specific users",
        ),
    ),
    says(9, "+GROUP and its name; +USER and an email address or a username", WHO, OPEN),
    says(9, "Who removes themselves loses access, and is told", WHO),
    says(9, "Node port, with a custom one", TOOLS, fields=("Node port", "Custom port")),
    says(9, "A custom port is between 30000 and 32767", TOOLS),
    says(
        9,
        "A node port that is in use is an error",
        f"{WIZARD}test_tools.py::"
        "test_a_node_port_that_another_workload_has_is_refused_before_submission",
    ),
    says(
        9,
        "UID, GID and supplementary groups, separated by commas",
        FIELDS,
        fields=("User ID (UID)", "Group ID (GID)", "Supplementary groups"),
    ),
    says(9, "+COMMAND & ARGUMENTS, with spaces between", COMMAND, fields=("+COMMAND & ARGUMENTS",)),
    says(
        9,
        "Without a command the image's own runs",
        fields=("Arguments of the image's own command",),
    ),
    says(9, "A variable of the environment is modified", fields=("Modify an existing variable",)),
    says(
        9,
        "Its instructions guide to the right value",
        f"{WIZARD}test_rows.py::test_the_environments_own_variables_are_shown",
    ),
    says(9, "+ENVIRONMENT VARIABLE", fields=("+ENVIRONMENT VARIABLE, custom value",)),
    says(
        9,
        "Its source is a credential and one of its keys",
        "e2e/test_credentials.py::test_a_variable_takes_its_value_from_a_credential",
        fields=("+ENVIRONMENT VARIABLE, credential and key",),
    ),
)
COMPUTE = (
    says(10, "The number of workers", FIELDS, fields=("Number of workers",)),
    says(10, "+NEW COMPUTE RESOURCE, which is selected then", MAIN_JOB),
    says(10, "Node pools are in an order", POOLS, fields=("Order of priority of the node pools",)),
    says(10, "They are dragged into order, removed, and reset to the project's default", POOLS),
    says(10, "+NODE POOL adds one of the cluster's", POOLS),
    says(10, "A node type", FIELDS, fields=("Node affinity",)),
    says(10, "Tolerations are off until General settings turn them on", SWITCHES),
    says(
        10,
        "+TOLERATION: Exists or Equals, and the effect",
        ITEMS,
        fields=(
            "+TOLERATION Exists, NoExecute",
            "+TOLERATION Exists, NoSchedule",
            "+TOLERATION Exists, PreferNoSchedule",
            "+TOLERATION Exists, any",
            "+TOLERATION Equals",
        ),
    ),
    says(10, "Topology is off until General settings turn it on", SWITCHES),
    says(
        10,
        "+TOPOLOGY: Required or Preferred",
        FIELDS,
        fields=("Topology, required", "Topology, preferred"),
    ),
)
STORAGE = (
    says(
        11,
        "+VOLUME: storage class, None or of the cluster",
        ITEMS,
        fields=("Storage class None", "Custom storage class"),
    ),
    says(
        11,
        "Access modes, several too",
        ITEMS,
        fields=("Read-write by one node", "Read-only by many nodes", "Read-write by many nodes"),
    ),
    says(
        11,
        "Claim size and its unit",
        FIELDS,
        fields=tuple(f"Claim size in {unit}" for unit in volume_fields.UNITS),
    ),
    says(11, "Volume mode", fields=("Volume mode Filesystem", "Volume mode Block")),
    says(11, "Container path", FIELDS, fields=("Container path",)),
    says(
        11,
        "Persistent volumes last as long as the workload, ephemeral ones until it stops",
        "engines/local/test_volumes.py::"
        "test_a_new_claim_lasts_until_the_deletion_and_an_ephemeral_one_for_a_run",
        "engines/kubernetes/test_objects.py::test_volumes_through_stop_run_and_delete",
        fields=("Ephemeral",),
    ),
    says(12, "+NEW DATA SOURCE, which is selected then", DATA),
    says(
        12,
        "One that cannot be used is no choice",
        "assets/test_usable_here.py::"
        "test_the_wizard_shows_it_with_the_reason_and_does_not_let_it_be_chosen",
    ),
    says(12, "Its target location is modified", DATA),
    says(
        12,
        "Any of its types",
        fields=("Existing PVC", "NFS", "Host path", "Git", "S3", "Existing ConfigMap"),
    ),
)
GENERAL = (
    says(13, "Grace period, 0 seconds to 5 minutes", RANGES, fields=("Grace period",)),
    says(13, "Backoff limit, up to 100", RANGES, fields=("Backoff limit",)),
    says(
        13,
        "The workload fails once it is reached",
        "engines/local/supervisor/test_gang.py::"
        "test_restarts_up_to_the_backoff_limit_then_names_the_first",
    ),
    says(
        13,
        "Auto-deletion after the end, at once with 0",
        "workloads/worker/test_sweep.py::test_the_sweep_deletes_what_is_due",
        fields=("Timeframe for auto-deletion",),
    ),
    says(
        13,
        "It leaves the log",
        "workloads/worker/test_deletion.py::test_deletion_keeps_output_numbers_and_events",
    ),
    says(13, "+ANNOTATION", FIELDS, fields=("+ANNOTATION",)),
    says(13, "+LABEL", FIELDS, fields=("+LABEL",)),
)
END = (
    says(14, "CONTINUE", MASTER),
    says(15, "The master inherits the workers' setup", MASTER),
    says(15, "A different setup asks all of steps 9 to 13 again", MASTER),
    says(16, "CREATE TRAINING", MASTER),
    says(
        17,
        "It is added to the Workloads table, where it is managed and monitored",
        MAIN_JOB,
        "e2e/test_live.py::test_a_rows_menu_stops_it",
    ),
    says(
        18,
        "The command line",
        "trainyard_cli/test_seeds.py::test_the_first_quickstart_submits_its_pytorch_training",
        "trainyard_cli/test_product.py::test_the_session_of_the_documents_runs_as_it_is_written",
    ),
    says(
        19,
        "The API",
        "workloads/api/submissions/test_distributed.py::"
        "test_the_quickstarts_call_makes_one_master_and_two_workers",
    ),
)
SENTENCES = (*BEFORE, *SETUP, *ENVIRONMENT, *COMPUTE, *STORAGE, *GENERAL, *END)
