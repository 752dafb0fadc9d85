"use strict";

// Browsers start no workers from disk. There a frame runs the script of the search instead, and
// messages pass as between a page and its worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #inner;
    #ready;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.#ready = new Promise((resolve, reject) => {
        document.body.append(frame);
        this.#inner = frame.contentWindow;
        this.#inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = frame.contentDocument.createElement("script");
        script.src = new URL(url, location.href).href;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`cannot load ${url}`));
        frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.#ready.then(() => this.#inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.#inner.frameElement.remove();
    }
  };
}
