// What the workload's page and its drawer need: live parts, logs, charts, terminals.
import "./live.js";
import "./logs.js";
import "./metrics.js";
import "./terminal.js";
