// Calls of the server. Every one carries the token of this page; every refusal is one sentence.

const settings = document.body.dataset;

export const limits = {
  uploadBytes: Number(settings.uploadBytes),
  pixels: Number(settings.pixels),
  resultPixels: Number(settings.resultPixels),
  blockPixels: Number(settings.blockPixels),
};
export const samples = settings.samples.split(" ").filter(Boolean);

export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function call(method, path, { body, kind, keepalive } = {}) {
  const headers = { "X-Sparsemble-Token": settings.token };
  if (kind) headers["Content-Type"] = kind;
  let answer;
  try {
    answer = await fetch(path, { method, headers, body, keepalive, cache: "no-store" });
  } catch {
    throw new Refused("The studio does not answer. Is it still running in its terminal?", 0);
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Refused(told.error ?? `The studio answered ${answer.status}.`, answer.status);
}

const json = async (...words) => (await call(...words)).json();
const blob = async (...words) => (await call(...words)).blob();

export const keepPicture = (file) =>
  json("POST", "/api/pictures", { body: file, kind: "application/octet-stream" });
export const picture = (id) => blob("GET", `/api/pictures/${id}`);
export const startJob = (job) =>
  json("POST", "/api/jobs", { body: JSON.stringify(job), kind: "application/json" });
export const job = (id) => json("GET", `/api/jobs/${id}`);
export const result = (id, which) => blob("GET", `/api/jobs/${id}/${which}`);
export const dismissJob = (id) => json("DELETE", `/api/jobs/${id}`, { keepalive: true });
