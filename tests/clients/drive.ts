// Calls a running server by the types that were generated from its OpenAPI document.

import type { components, paths } from "./schema";

type Schemas = components["schemas"];
type Workloads = NonNullable<paths["/api/v1/workloads"]["get"]["parameters"]["query"]>;

const [url, username, password] = process.argv.slice(2) as [string, string, string];
let token = "";

async function send<Answer>(method: string, path: keyof paths | string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw answer as Schemas["ErrorBody"];
  return answer as Answer;
}

const request: Schemas["TokenRequest"] = { grantType: "password", username, password };
token = (await send<Schemas["Token"]>("POST", "/api/v1/token", request)).accessToken;

const { projects } = await send<Schemas["ProjectList"]>("GET", "/api/v1/org-unit/projects");
const [project] = projects;
if (!project) throw new Error("no project");

const body: Schemas["DistributedIn"] = {
  name: "typed",
  projectId: project.id,
  clusterId: project.clusterId,
  spec: {
    image: "kubeflow/pytorch-dist-mnist:latest",
    distributedFramework: "PyTorch",
    numWorkers: 2,
    tolerations: [{ key: "gpu", operator: "Exists" }],
  },
};
const made = await send<Schemas["DistributedOut"]>("POST", "/api/v1/workloads/distributed", body);

const query: Workloads = { filterBy: ["name==typed"], sortOrder: "desc" };
const asked = new URLSearchParams({ filterBy: query.filterBy?.[0] ?? "", sortOrder: query.sortOrder ?? "asc" });
const list = await send<Schemas["WorkloadList"]>("GET", `/api/v1/workloads?${asked}`);
const phases: Schemas["WorkloadOut"]["phase"][] = list.workloads.map((one) => one.phase);

let refusal = 0;
try {
  await send("POST", "/api/v1/workloads/distributed", body);
} catch (error) {
  refusal = (error as Schemas["ErrorBody"]).code;
}
console.log(JSON.stringify({ workers: made.spec.numWorkers, phases, refusal }));
