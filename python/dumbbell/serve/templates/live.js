"use strict";

// The overview: asks for what is there every few seconds as long as somebody looks.

const EVERY_MS = 3000;
const part = (selector) => document.querySelector(selector);

function made(tag, text, className) {
  const element = document.createElement(tag);
  element.append(text);
  if (className) element.className = className;
  return element;
}

function study(row) {
  const line = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  const link = made("a", row.name);
  link.href = `runs.html#${encodeURIComponent(`study=${row.name}`)}`;
  name.append(link, made("small", row.title));
  if (row.why.length) {
    const why = document.createElement("details");
    const reasons = document.createElement("ul");
    reasons.append(...row.why.map((each) => made("li", each)));
    why.append(made("summary", "Why runs failed"), reasons, made("code", row.command));
    why.open = opened.has(row.command);
    why.addEventListener("toggle", () => opened[why.open ? "add" : "delete"](row.command));
    name.append(why);
  }
  const bar = document.createElement("progress");
  bar.max = Math.max(1, row.planned);
  bar.value = row.done;
  bar.setAttribute("aria-label", `${row.done} of ${row.planned} runs of ${row.name} are done`);
  const filled = made("td", bar);
  filled.append(` ${Math.floor((100 * row.done) / bar.max)} %`);
  const count = (value, bad) => made("td", value.toLocaleString("en"), bad && value ? "number some" : "number");
  line.append(
    name, made("td", row.engine), filled,
    count(row.planned), count(row.done), count(row.failed, true), count(row.invalid, true),
  );
  return line;
}

function latest(found) {
  part("#latest").hidden = !found;
  if (!found) return;
  part("#latest .how").textContent = `${found.study} by ${found.engine}, since ${found.started}`;
  part("#latest .told").replaceChildren(...found.facts.map(([name, value]) => {
    const fact = document.createElement("div");
    fact.append(made("dt", name), made("dd", value));
    return fact;
  }));
}

function show(found) {
  part("#stored").textContent = ` (${found.runs.toLocaleString("en")})`;
  latest(found.latest);
  part("#studies").hidden = !found.studies.length;
  part("#studies tbody").replaceChildren(...found.studies.map(study));
  part("#empty").hidden = found.studies.length > 0 || found.runs > 0;
  part("#unknown").hidden = !found.unknown.length;
  part("#unknown ul").replaceChildren(...found.unknown.map((each) => made("li", each)));
  part("#at").textContent = `As of ${new Date().toLocaleTimeString("en-GB")}; told anew every few seconds.`;
}

async function ask() {
  const problem = part("#problem");
  try {
    const answer = await fetch("live.json");
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    show(found);
    problem.hidden = true;
  } catch (error) {
    const gone = error instanceof TypeError;
    problem.textContent = gone ? "The server has ended; dumbbell serve starts it again." : error.message;
    problem.hidden = false;
  }
}

async function keepAsking() {
  if (!document.hidden) await ask();
  setTimeout(keepAsking, EVERY_MS);
}

const opened = new Set();
keepAsking();
