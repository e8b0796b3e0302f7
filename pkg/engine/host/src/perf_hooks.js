/** node:perf_hooks, without observers. @module */
import { absent } from "internal/errors";
import * as all from "internal/performance";

const { performance, Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure } = all;

export default {
  performance,
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  constants: {},
  ...absent("perf_hooks", "PerformanceObserver createHistogram monitorEventLoopDelay"),
};
