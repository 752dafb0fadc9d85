"use strict";

// Updates the overview while the page is visible.

const INTERVAL_S = 3;
const query = (selector) => document.querySelector(selector);
const openReasons = new Set();

function newElement(tag, content, className) {
  const element = document.createElement(tag);
  element.append(content);
  if (className) element.className = className;
  return element;
}

function failureReasons(study) {
  const details = document.createElement("details");
  const list = document.createElement("ul");
  list.append(...study.reasons.map((reason) => newElement("li", reason)));
  details.append(newElement("summary", "Reasons of failures"), list, newElement("code", study.command));
  // Each update replaces the row, so the page remembers which reasons are open.
  details.open = openReasons.has(study.command);
  details.addEventListener("toggle", () => openReasons[details.open ? "add" : "delete"](study.command));
  return details;
}

function studyRow(study) {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  const link = newElement("a", study.name);
  link.href = `runs.html#${encodeURIComponent(`study=${study.name}`)}`;
  name.append(link, newElement("small", study.title));
  if (study.reasons.length) name.append(failureReasons(study));
  const bar = document.createElement("progress");
  bar.max = Math.max(1, study.planned);
  bar.value = study.done;
  bar.setAttribute("aria-label", `${study.done} of ${study.planned} runs of ${study.name} are done`);
  const progress = newElement("td", bar);
  progress.append(` ${Math.floor((100 * study.done) / bar.max)} %`);
  const count = (value, isBad) => newElement("td", value.toLocaleString("en"), isBad && value ? "number bad" : "number");
  row.append(
    name, newElement("td", study.engine), progress,
    count(study.planned), count(study.done), count(study.failed, true), count(study.invalid, true),
  );
  return row;
}

function showCommand(command) {
  query("#latest").hidden = !command;
  if (!command) return;
  query("#latest .how").textContent = `${command.study} on ${command.engine}, started ${command.started}`;
  query("#latest .progress").replaceChildren(...command.facts.map(([name, value]) => {
    const fact = document.createElement("div");
    fact.append(newElement("dt", name), newElement("dd", value));
    return fact;
  }));
}

function show(overview) {
  query("#stored").textContent = ` (${overview.runs.toLocaleString("en")})`;
  showCommand(overview.latest);
  query("#studies").hidden = !overview.studies.length;
  query("#studies tbody").replaceChildren(...overview.studies.map(studyRow));
  query("#empty").hidden = overview.studies.length > 0 || overview.runs > 0;
  query("#unknown").hidden = !overview.unknown.length;
  query("#unknown ul").replaceChildren(...overview.unknown.map((study) => newElement("li", study)));
  query("#updated").textContent = `Updated at ${new Date().toLocaleTimeString("en-GB")}, every ${INTERVAL_S} s.`;
}

async function update() {
  const problem = query("#problem");
  try {
    const answer = await fetch("live.json");
    const overview = await answer.json();
    if (!answer.ok) throw new Error(overview.error);
    show(overview);
    problem.hidden = true;
  } catch (error) {
    const isUnreachable = error instanceof TypeError;
    problem.textContent = isUnreachable ? "The server does not answer. Start it again with dumbbell serve." : error.message;
    problem.hidden = false;
  }
}

async function keepUpdating() {
  if (!document.hidden) await update();
  setTimeout(keepUpdating, 1000 * INTERVAL_S);
}

keepUpdating();
