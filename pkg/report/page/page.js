"use strict";
{
  const groups = [...document.querySelectorAll(".group")].map((group) => ({ group, trails: [...group.querySelectorAll(":scope > .trail")] }));
  const total = groups.reduce((sum, { trails }) => sum + trails.length, 0);
  const filter = document.querySelector(".filter");
  const texts = new Map(); // of trails, when somebody looks for something

  const textOf = (trail) => {
    if (!texts.has(trail)) texts.set(trail, trail.textContent.toLowerCase());
    return texts.get(trail);
  };

  const apply = () => {
    const { outcome, device, text } = filter.elements;
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (trail) => (!outcome.value || trail.dataset.outcome === outcome.value) && (!device?.value || trail.dataset.device === device.value) && words.every((word) => textOf(trail).includes(word));
    let shown = 0;
    for (const { group, trails } of groups) {
      let some = 0;
      for (const trail of trails) {
        trail.hidden = !fits(trail);
        if (!trail.hidden) some++;
      }
      group.hidden = some === 0;
      shown += some;
    }
    document.querySelector(".none").hidden = shown > 0;
    filter.querySelector("output").textContent = `${shown} of ${total} trails`;
  };
  filter.addEventListener("input", apply);
  filter.addEventListener("submit", (event) => event.preventDefault());
  apply(); // a browser keeps what was typed before a reload

  const viewer = document.querySelector(".viewer");
  const picture = viewer.querySelector("img");
  let opened; // the button of the picture that is shown

  const show = (button) => {
    const small = button.querySelector("img");
    opened = button;
    picture.src = small.src;
    picture.alt = small.alt;
    document.getElementById("viewer-title").textContent = small.alt;
    if (!viewer.open) viewer.showModal();
    viewer.scrollTop = 0;
  };
  const turn = (by) => {
    const all = [...opened.closest(".trail").querySelectorAll(".shot button")].filter((button) => button.checkVisibility());
    show(all[(all.indexOf(opened) + by + all.length) % all.length]);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".shot button");
    if (button) show(button);
    if (event.target === viewer || event.target.closest(".close")) viewer.close();
  });
  viewer.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") turn(1);
    if (event.key === "ArrowLeft") turn(-1);
  });
  viewer.addEventListener("close", () => picture.removeAttribute("src"));
}
