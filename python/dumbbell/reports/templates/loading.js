"use strict";

// Scripts that are loaded when they are wanted: pages opened as files may load those, but not fetch.

const siteRoot = document.documentElement.dataset.root;
const loading = new Map();

function load(source) {
  if (!loading.has(source)) {
    loading.set(source, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      // A page that is one file has the scripts in it, as texts.
      const inside = document.querySelector(`script[data-source="${CSS.escape(source)}"]`);
      if (inside) {
        script.textContent = inside.textContent;
        document.head.append(script);
        resolve();
        return;
      }
      script.src = source;
      script.onload = resolve;
      script.onerror = () => { loading.delete(source); reject(new Error(`cannot load ${source}`)); };
      document.head.append(script);
    }));
  }
  return loading.get(source);
}
