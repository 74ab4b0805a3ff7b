"""Failures of networks, and of services that require credentials."""

from workloads.diagnosis.base import FailureClass, Fault

#: Programs that wait for a service to start are refused until it has.
WAITS = r"^[Ww]aiting (?:for|until)\b"

SERVICES = (
    FailureClass(
        "tls",
        "TLS certificate refused",
        Fault.ENVIRONMENT,
        "The certificate of a server could not be verified.",
        "Put the certificate authority of the server into the image (REQUESTS_CA_BUNDLE, "
        "SSL_CERT_FILE), and check the node's clock.",
        line_patterns=(
            r"CERTIFICATE_VERIFY_FAILED|certificate verify failed"
            r"|server certificate verification failed",
            r"[Cc]ertificate .*(?:is not trusted|doesn't have a known issuer)",
            r"x509: |SSL certificate problem|certificate has expired",
            r"[Ss]elf[- ]signed certificate (?:in|encountered)"
            r"|(?:[Ee]rror|problem|failed).*[Ss]elf[- ]signed certificate",
            r"SSLError\(|ssl\.SSL\w*Error|WRONG_VERSION_NUMBER|TLS handshake (?:failed|timeout)",
        ),
    ),
    FailureClass(
        "dns",
        "Host name not found",
        Fault.CLUSTER,
        "A host name could not be resolved.",
        "Check the spelling of the name; inside a cluster also the namespace, and that its DNS "
        "answers. A headless service has a name only while its pod is there.",
        line_patterns=(
            r"Name or service not known|Temporary failure in name resolution|nodename nor servname",
            r"[Cc]ould not resolve host|No address associated with hostname|getaddrinfo (?:failed"
            r"|ENOTFOUND)",
            r"NameResolutionError|[Nn]o such host|[Uu]nknown host|gaierror|EAI_AGAIN",
            r"(?:host|hostname|address).* (?:cannot|could not) be (?:resolved|retrieved|found)",
        ),
        weak_patterns=(WAITS,),
    ),
    FailureClass(
        "gated-model",
        "Model needs permission",
        Fault.DATA,
        "The model or dataset on the Hugging Face Hub is gated or private.",
        "Ask for access on its page, and give the workload HF_TOKEN from a credential of an "
        "account that has it.",
        line_patterns=(
            r"gated repo|GatedRepoError|awaiting a review from the repo authors"
            r"|not in the authorized list",
            r"(?:401|403) Client Error(?:.*huggingface|\. \(Request ID)"
            r"|huggingface\S*.*(?:Invalid (?:username|credentials)|Unauthorized)",
            r"RepositoryNotFoundError|is not a local folder and is not a valid model identifier",
        ),
    ),
    FailureClass(
        "storage-credentials",
        "Object storage refused access",
        Fault.ENVIRONMENT,
        "The object storage (S3, GCS, Azure) got no credentials, or refused them.",
        "Give the workload the right access key from a credential, and check bucket, region and "
        "endpoint; keys may have expired.",
        line_patterns=(
            r"Unable to locate credentials|NoCredentials(?:Error|ProviderError)"
            r"|PartialCredentialsError",
            r"InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidClientTokenId"
            r"|RequestTimeTooSkewed",
            r"An error occurred \((?:AccessDenied|403|Forbidden|401|Unauthorized)\)"
            r"|AWS Error ACCESS_DENIED",
            r"[Cc]ould not automatically determine credentials|DefaultCredentialsError",
            r"does not have storage\.\w+(?:\.\w+)* access|AuthorizationPermissionMismatch"
            r"|AuthenticationFailed",
            r"\b[Ss]3\b.*(?:Access ?Denied|Forbidden|(?:status|code|[Ee]rror)\D{0,12}\b403\b)"
            r"|No AWSAccessKey",
        ),
    ),
    FailureClass(
        "git-access",
        "Git refused access",
        Fault.ENVIRONMENT,
        "The repository could not be read: it is private, does not exist, or the key is wrong.",
        "Check the address and the branch, and give the workload a credential that may read it.",
        line_patterns=(
            r"fatal: (?:[Aa]uthentication failed|[Cc]ould not read (?:Username|Password"
            r"|from remote)|"
            r"repository .* (?:not found|does not exist)|[Rr]emote branch"
            r"|unable to access (?!.*(?:error: (?:5\d\d|429)|connect to server|timed out)))",
            r"remote: (?:Repository not found|Invalid username|HTTP Basic: Access denied"
            r"|Permission to|Write access)",
            r"git@\S+: Permission denied|git-lfs.*(?:authentication|credentials)",
            r"(?:did not match any file\(s\)|pathspec '|couldn't find remote ref"
            r"|upload-pack: not our ref)",
        ),
    ),
    FailureClass(
        "registry-access",
        "Registry refused access",
        Fault.ENVIRONMENT,
        "A registry of images or packages needs credentials, or does not have this name.",
        "Check the name, and give a credential for the registry: a pull secret for images, an "
        "index address with a token for packages.",
        line_patterns=(
            r"(?:pull|push) access denied|unauthorized: (?:authentication|access|incorrect)"
            r"|denied: requested access",
            r"no basic auth credentials|manifest (?:unknown|for \S+ not found)|(?:401"
            r"|403) (?:Client Error|Unauthorized|Forbidden).*(?:registry|docker|/v2/|pypi|simple/)"
            r"|(?:status|code|[Ee]rror)\W{0,3}(?:401|403)\b.*(?:registry|docker|/v2/|pypi|simple/)",
            r"No matching distribution found|Could not find a version that satisfies"
            r"|ResolutionImpossible",
            r"npm (?:error|ERR!) (?:code )?E?40[134]\b",
            r"PackagesNotFoundError|E: Unable to locate package",
        ),
        # pip ends with these even if it could not read the index.
        weak_patterns=(r"\(from versions: none\)|No matching distribution found",),
    ),
    FailureClass(
        "login-missing",
        "Service credentials missing",
        Fault.ENVIRONMENT,
        "A service that records experiments needs an API key.",
        "Give the workload the key from a credential (WANDB_API_KEY and the like), or turn the "
        "service off.",
        line_patterns=(
            r"api_key not configured|[Nn]o API key(?! (?:given|set)?,)"
            r"|API key (?:must be|is not|not found|verification failed|is invalid)",
            r"wandb.*(?:(?:[Ee]rror|ERROR|status|code|HTTP)\D{0,12}\b40[13]\b|permission denied"
            r"|not logged in|UsageError|(?:call|run|use) `?wandb[. ]login\b(?! --relogin))",
            r"CometError|NeptuneMissing\w+|NeptuneInvalidApi\w+",
            r"MlflowException.*(?:401|403|UNAUTHENTICATED|PERMISSION_DENIED)",
            r"Token is required|LocalTokenNotFoundError|not logged in",
        ),
    ),
)
NETWORK = (
    FailureClass(
        "rate-limit",
        "Rate limit",
        Fault.CLUSTER,
        "A service refused because of too many requests.",
        "Download once into a volume instead of in every rank, sign in for a higher limit, and "
        "try again later.",
        line_patterns=(
            r"\b429\b:? (?:Client Error|\S*[Rr]ate ?[Ll]imit)|(?:status|code|HTTP\S*)\W{0,3}429\b"
            r"|Too [Mm]any [Rr]equests"
            r"|toomanyrequests|returned error: 429",
            r"[Rr]ate ?limit(?:ed)?(?: (?:exceeded|reached|hit)|: (?!\d))|SlowDown\b"
            r"|RequestLimitExceeded|ThrottlingException",
        ),
    ),
    FailureClass(
        "access-denied",
        "Access denied",
        Fault.ENVIRONMENT,
        "A server refused the request: no credentials, or not the right ones.",
        "Give the workload a credential that the server accepts, and check whether it expired.",
        line_patterns=(
            r"HTTP ?Error 40[13]|\b40[13] Client Error|\b(?:401|403)[: ]+(?:Unauthorized"
            r"|Forbidden|Authorization Required)",
            r"(?:status(?:_| )?code|HTTP/[\d.]+|ERROR)[:= ]+(?:401|403)\b|returned error: 40[13]",
            r"(?i:authentication (?:failed|failure|required)|(?<!SyntaxError: )invalid (?:token"
            r"|credentials|api key)\b(?! ids?\b)|token (?:has )?expired)",
            r"password authentication failed|UNAUTHENTICATED|PERMISSION_DENIED"
            r"|NOAUTH Authentication required|WRONGPASS",
            r"[Ii]nvalid (?:username|user name|user)(?:-password pair| or password)",
        ),
        exceptions=("AuthenticationError", "AuthenticationException", "ClientAuthenticationError"),
    ),
    FailureClass(
        "service-unavailable",
        "Service unavailable",
        Fault.CLUSTER,
        "A server that the program needs answered with an error of its own.",
        "Try again later, and contact the operators of the server if this persists.",
        line_patterns=(
            r"HTTP ?Error 5\d\d|\b50[0234] (?:Server Error|Service|Bad Gateway|Gateway|Internal)",
            r"(?:status(?:_| )?code|HTTP/[\d.]+|returned error:)[:= ]+50[0234]\b"
            r"|ServiceUnavailable|InternalServerError",
            r"reached max retries.*(?:500|502|503|504)",
        ),
    ),
    FailureClass(
        "connection-refused",
        "Connection refused",
        Fault.CLUSTER,
        "Nothing listens at the address that the program connects to.",
        "Check host and port, and whether what should listen there has started; inside the gang "
        "the master may have failed first.",
        line_patterns=(
            r"[Cc]onnection refused|ECONNREFUSED|actively refused it|ConnectionRefusedError",
            r"Failed to connect to .* port \d+ .*(?:Couldn't|Could not) connect to server",
        ),
        weak_patterns=(WAITS,),
    ),
    FailureClass(
        "network-unreachable",
        "Network unreachable",
        Fault.CLUSTER,
        "A server did not answer in time, or is unreachable.",
        "Check that the cluster lets the workload out to that address (proxy, firewall, network "
        "policy): HTTPS_PROXY may have to be set.",
        line_patterns=(
            r"Network is unreachable|No route to host|ENETUNREACH|EHOSTUNREACH|Host is unreachable",
            r"[Cc]onnection timed out|ETIMEDOUT|Read timed out"
            r"|(?:Connect|Read)Timeout(?!\W{1,3}\d)|\(connect timeout",
            r"(?:EndpointConnectionError|[Cc]ould not connect to the endpoint)"
            r"|ConnectionError.*Max retries exceeded",
            r"We couldn't connect to 'https?://|ProxyError|[Tt]unnel connection failed"
            r"|LocalEntryNotFoundError",
            r"urlopen error (?:timed out|\[Errno 1(?:01|10|13)\])|TimeoutError: (?:\[Errno 110\]"
            r"|The read)",
        ),
        weak_patterns=(WAITS,),
    ),
)
