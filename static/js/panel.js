// What the workload's page and its drawer need: live parts, logs, charts.
import "./live.js";
import "./logs.js";
import "./metrics.js";
