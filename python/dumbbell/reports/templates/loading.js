"use strict";

// Load a script once, on demand. A page opened from disk may load scripts, but not fetch data.

const siteRoot = document.documentElement.dataset.root;
const loading = new Map();

function load(source) {
  if (!loading.has(source)) {
    loading.set(source, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      // A page that is a single file contains the scripts as texts.
      const embedded = document.querySelector(`script[data-source="${CSS.escape(source)}"]`);
      if (embedded) {
        script.textContent = embedded.textContent;
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
