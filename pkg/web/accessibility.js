// What accessibility.go calls in the isolated world of each frame, after axe-core of the project was loaded there. axe
// runs in each frame by itself, because it cannot reach frames from an isolated world. Its own order of the results is
// each frame before the frames inside it.
Object.assign(globalThis.trailblaze, {
  // axeFrames returns, for the frames inside this one that axe would look into, how axe finds each and its part of the
  // context.
  axeFrames: (context, options) => axe.utils.getFrameContexts(context, options),

  // axeFrame returns the index of a frame's element among those that axeFrames returned, or -1.
  axeFrame: (el, selectors) => selectors.findIndex((selector) => axe.utils.shadowSelect(selector) === el),

  // axePartial returns what axe finds in this frame, as JSON.
  axePartial: async (context, options) => JSON.stringify(await axe.runPartial(context, options)),

  // axeFinish returns the problems of all frames from the results of axePartial, null for a frame that did not respond.
  axeFinish: async (partials, options) => {
    const results = await axe.finishRun(
      partials.map((partial) => partial && JSON.parse(partial)),
      options,
    );
    const brief = ({ id, impact, help, helpUrl, nodes }) => ({
      id,
      impact,
      help,
      helpUrl,
      targets: nodes.map(({ target }) => target.flat().join(" ")),
    });
    return {
      violations: results.violations.map(brief),
      incomplete: results.incomplete.map(({ id }) => id),
      passes: results.passes.length,
    };
  },
});
