/** node:perf_hooks without observers. @module */
import { unavailableFunctions } from "internal/errors";
import * as all from "internal/performance";

const { performance, Performance, PerformanceEntry, PerformanceMark, PerformanceMeasure } = all;

export default {
  performance,
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  constants: {},
  ...unavailableFunctions("perf_hooks", "PerformanceObserver createHistogram monitorEventLoopDelay"),
};
