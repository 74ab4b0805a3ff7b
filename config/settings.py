"""Every setting of Trainyard on one page. Each has a default that suits a laptop."""

from pathlib import Path

from django.contrib.messages import constants as message_levels

from config import embedded
from config.env import (
    env_bool,
    env_choice,
    env_database,
    env_datasets,
    env_int,
    env_list,
    env_networks,
    env_pairs,
    env_path,
    env_str,
    secret_keys,
)
from trainyard_cli import __version__

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = __version__
HOME = Path(env_str("TRAINYARD_HOME", str(BASE_DIR / ".trainyard"))).expanduser().resolve()
HOME.mkdir(mode=0o700, parents=True, exist_ok=True)

# --- Web ---------------------------------------------------------------------------------------
DEBUG = env_bool("DEBUG", default=False)
SECRET_KEY, *SECRET_KEY_FALLBACKS = secret_keys(HOME)  # the old ones still decrypt
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
ROOT_URLCONF = "config.urls"
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
HTTPS = env_bool("HTTPS", default=False)  # a proxy in front speaks it
# Browsers share cookies between ports of one host. The suffix lets two installations run side by
# side. With HTTPS, browsers accept a cookie of this prefix from this very host alone: a tool at
# another name of the same domain cannot replace its visitor's session by its author's.
COOKIE_PREFIX = "__Host-" if HTTPS else ""
COOKIE_SUFFIX = f"_{env_int('PORT', 8000)}"
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}trainyard_session{COOKIE_SUFFIX}"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}trainyard_csrf{COOKIE_SUFFIX}"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# How long browsers insist on HTTPS. Not for subdomains: other hosts of the domain need not be ours.
SECURE_HSTS_SECONDS = env_int("HSTS_SECONDS", 30 * 24 * 3600 if HTTPS else 0)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "allauth",
    "allauth.account",
    "core",
    "audit",
    "accounts",
    "clusters",
    "projects",
    "policies",
    "assets",
    "workloads",
    "workflows",
    "notifications",
    "config",  # its commands
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "core.rest.correlation.RequestIdMiddleware",
    "core.web.middleware.HeadersMiddleware",
    "core.web.static.StaticFilesMiddleware",
    "core.web.middleware.CompressionMiddleware",
    "core.web.middleware.TextMiddleware",
    "core.web.middleware.ApiMiddleware",
    "core.web.browsers.PageSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "core.web.browsers.PageAuthenticationMiddleware",
    "core.web.browsers.PageMessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "core.web.browsers.PageHtmxMiddleware",
    "core.web.browsers.PageHtmxResponseMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "core.web.context_processors.page",
                "config.health.add_health_notice",
                "notifications.people.bell.add_unread_notifications",
            ],
        },
    },
]

# --- Data --------------------------------------------------------------------------------------
DATABASES = {"default": env_database("DATABASE_URL", default=HOME / "trainyard.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
REDIS_URL = env_str("REDIS_URL") or embedded.redis_url(HOME)
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 5, "socket_connect_timeout": 2},
    }
}
# Requests that the web process answers at the same time: those that only read, and in addition
# those that change something. More threads would compete with each other for the interpreter.
READ_THREADS = env_int("READ_THREADS", 8, least=1)
CHANGE_THREADS = env_int("CHANGE_THREADS", 3, least=1)
# Seconds a request waits for SQLite's write lock before it answers 503.
WRITE_WAIT_SECONDS = env_int("WRITE_WAIT_SECONDS", 10)
# Below this much free space, submissions and uploads are refused. The reserve is for recording how
# running workloads end, and for deletions. On a small disk it is a twentieth of the disk.
DISK_RESERVE_BYTES = env_int("TRAINYARD_DISK_RESERVE_MB", 64) * 1024**2
LOG_STORE = HOME / "logs"  # output of the ranks, kept after they are gone
# How long logs, metrics and events of a deleted workload are kept: this many days after its end,
# and at least a week after its deletion. 0 keeps nothing.
RETENTION_DAYS = env_int("TRAINYARD_RETENTION_DAYS", 30)
# Output kept per workload. Beyond it the oldest is cut, and a line in the log says so. 0 is no
# limit.
LOG_LIMIT_BYTES = env_int("TRAINYARD_LOG_LIMIT_MB", 2000) * 1000**2
# Log streams open at the same time on one Kubernetes cluster.
LOG_STREAMS = env_int("TRAINYARD_LOG_STREAMS", 64, least=1)

# --- Celery ------------------------------------------------------------------------------------
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 300}
CELERY_TASK_DEFAULT_QUEUE = "submit"
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "config.heartbeat:BeatScheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "workloads.worker.sweep",
        "schedule": 5.0,  # seconds
        "options": {"queue": "periodic", "expires": 5},
    },
    "datasets": {
        "task": "assets.remove_unfinished_datasets",
        "schedule": 3600.0,  # seconds
        "options": {"queue": "periodic", "expires": 3600},
    },
    "workflows": {
        "task": "workflows.advance",
        "schedule": 5.0,  # seconds; finds timeouts, and groups whose task was lost
        "options": {"queue": "periodic", "expires": 5},
    },
    "webhooks": {
        "task": "notifications.deliver",
        "schedule": 5.0,  # seconds; delivers retries, and messages whose task was lost
        "options": {"queue": "periodic", "expires": 5},
    },
    "conditions": {
        "task": "notifications.conditions",
        "schedule": 30.0,  # seconds
        "options": {"queue": "periodic", "expires": 30},
    },
    "mails": {
        "task": "notifications.mail",
        "schedule": 15.0,  # seconds; sends retries and digests
        "options": {"queue": "periodic", "expires": 15},
    },
}
CELERY_BEAT_MAX_LOOP_INTERVAL = 2  # seconds; each tick is a heartbeat
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# --- Accounts ----------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_RATE_LIMITS = {
    "device_sign_in": "20/m/ip",
    "device_code": "10/5m/user",
    "refresh_token": "10/m/ip",
}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
MESSAGE_TAGS = {message_levels.ERROR: "danger", message_levels.DEBUG: "info"}  # colors of a toast

# Single sign-on through an identity provider, in addition to local accounts. Setting its address
# enables it.
OIDC_URL = env_str("OIDC_URL")
OIDC_NAME = env_str("OIDC_NAME", "single sign-on") if OIDC_URL else ""
OIDC_GROUPS_CLAIM = env_str("OIDC_GROUPS_CLAIM", "groups")
SOCIALACCOUNT_ADAPTER = "accounts.adapter.SocialAccountAdapter"
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "provider_class": "accounts.oidc.provider.IdentityProvider",
        "OAUTH_PKCE_ENABLED": True,  # a code that someone reads on its way is useless
        "APPS": [
            {
                "provider_id": "sso",
                "name": OIDC_NAME,
                "client_id": env_str("OIDC_CLIENT_ID"),
                "secret": env_str("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_URL},
            }
        ],
    }
}
if OIDC_URL:
    INSTALLED_APPS += [
        "allauth.socialaccount",
        "allauth.socialaccount.providers.openid_connect",
    ]

# --- Language and time -------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- Static files ------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_ALLOW_ALL_ORIGINS = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# --- Terminals ---------------------------------------------------------------------------------
TERMINAL_IDLE_SECONDS = 60 * env_int("TERMINAL_IDLE_MINUTES", 15, least=1)  # without a key pressed
TERMINALS_PER_USER = env_int("TERMINALS_PER_USER", 5)

# --- Mail --------------------------------------------------------------------------------------
# The SMTP server that sends people's notifications, until administrators save one on its page.
EMAIL_HOST = env_str("EMAIL_HOST")
EMAIL_USE_SSL = env_bool("EMAIL_USE_SSL", default=False)  # from the start, usually at port 465
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", default=bool(EMAIL_HOST) and not EMAIL_USE_SSL)
EMAIL_PORT = env_int("EMAIL_PORT", 465 if EMAIL_USE_SSL else 587)
EMAIL_HOST_USER = env_str("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env_str("EMAIL_HOST_PASSWORD")
DEFAULT_FROM_EMAIL = env_str("EMAIL_FROM", "trainyard@localhost")
EMAIL_TIMEOUT = 10  # seconds for each answer of the server

# --- Webhooks ----------------------------------------------------------------------------------
# Webhooks may go to public addresses and to these networks: 10.0.0.0/8,127.0.0.1
WEBHOOK_NETWORKS = env_networks("TRAINYARD_WEBHOOK_NETWORKS")

# --- Tools -------------------------------------------------------------------------------------
# The address under which people and clusters reach Trainyard: https://trainyard.example.com
PUBLIC_URL = env_str("PUBLIC_URL").rstrip("/")
# Each tool of a workload gets a host name of its own below this domain.
TOOLS_DOMAIN = env_str("TOOLS_DOMAIN", "localhost")

# --- Datasets -----------------------------------------------------------------------------------
# Where versions of datasets are kept, a folder or S3: /mnt/datasets, s3://bucket/datasets
DATASETS, DATASETS_BUCKET = env_datasets("TRAINYARD_DATASETS", HOME / "datasets")
# The service of that bucket, if it is not Amazon's, and the account's credential that opens it
DATASETS_S3_URL = env_str("TRAINYARD_DATASETS_S3_URL")
DATASETS_CREDENTIAL = env_str("TRAINYARD_DATASETS_CREDENTIAL", "datasets")

# --- Workflows ----------------------------------------------------------------------------------
# The node type of each platform that workflow files name: ovx-a40=nvidia-a40,dgx=nvidia-h100
WORKFLOW_PLATFORMS = env_pairs("TRAINYARD_WORKFLOW_PLATFORMS")

# --- The local engine --------------------------------------------------------------------------
LOCAL_ENGINE = env_bool("TRAINYARD_LOCAL_ENGINE", default=True)
LOCAL_ENGINE_HOME = HOME / "engine"
LOCAL_VIRTUAL_GPUS = env_int("TRAINYARD_LOCAL_VIRTUAL_GPUS", 4)
# Folders of this machine that workloads may mount, and where NFS shares are mounted on it:
# /datasets,nas.example.com:/export=/mnt/nas
LOCAL_PATHS = env_list("TRAINYARD_LOCAL_PATHS")
# The local engine pulls no images: it maps known training images to commands of ours. Keys are
# fnmatch patterns without "docker.io/". "{python}" is that Python; "{app}"
# installs a program or framework on first use.
# The Python that runs trainings. Trainyard installs one with torch, unless torch is installed where
# Trainyard runs, or an administrator names another: /opt/conda/bin/python
LOCAL_PYTHON = env_path("TRAINYARD_TRAINING_PYTHON")
LOCAL_PYTHON_HOME = HOME / "training"
LOCAL_TORCH = env_choice("TRAINYARD_TORCH", ("auto", "cpu", "cuda"))
LOCAL_WHEELS = env_path("TRAINYARD_WHEELS")
LOCAL_APPS = str(HOME / "apps")
LOCAL_IMAGES = {
    "kubeflow/pytorch-dist-mnist:*": ["{python}", "-m", "trainer", "mnist"],
    "kubeflow/tf-multi-worker-strategy:*": ["{app}", "tensorflow", LOCAL_APPS, TOOLS_DOMAIN],
    "kubeflow/xgboost-dist-iris:*": ["{app}", "xgboost", LOCAL_APPS, TOOLS_DOMAIN],
    "kubeflow/jaxjob-dist-spmd-mnist:*": ["{app}", "jax", LOCAL_APPS, TOOLS_DOMAIN],
    "mpioperator/mpi-pi:*": ["{app}", "mpi4py", LOCAL_APPS, TOOLS_DOMAIN],
    "gcr.io/run-ai-demo/quickstart-distributed:*": [
        "{python}",
        "-m",
        "trainer.examples",
        "horovod",
    ],
    "runai.jfrog.io/demo/quickstart-distributed:*": [
        "{python}",
        "-m",
        "trainer.examples",
        "horovod",
    ],
    "quay.io/jupyter/*:*": ["{app}", "jupyterlab", LOCAL_APPS, TOOLS_DOMAIN],
}
DEMO = env_bool("TRAINYARD_DEMO", default=True)

# --- Kubernetes --------------------------------------------------------------------------------
# Images that fetch data before a rank starts, for clusters with a registry of their own.
KUBERNETES_GIT_IMAGE = env_str("TRAINYARD_GIT_IMAGE")
KUBERNETES_S3_IMAGE = env_str("TRAINYARD_S3_IMAGE")
KUBERNETES_SHELL_IMAGE = env_str("TRAINYARD_SHELL_IMAGE")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "format": "{asctime} {levelname} {name}: {message}{request_id}",
            "style": "{",
            "defaults": {"request_id": ""},
        }
    },
    "filters": {
        "without_health": {"()": "core.logs.WithoutHealthChecks"},
        "brief_refusals": {"()": "core.logs.BriefRefusals"},
        "with_request_id": {"()": "core.rest.correlation.WithRequestId"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["without_health", "brief_refusals", "with_request_id"],
        }
    },
    "root": {"handlers": ["console"], "level": env_str("LOG_LEVEL", "INFO")},
    "loggers": {
        # A line for each task and each changed file would bury what matters at 3 a.m.
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "watchfiles": {"level": "WARNING"},
    },
}
