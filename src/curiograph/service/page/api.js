// Requests to the REST service. The demo in the documentation has another object with the same methods.

async function send(path, options) {
  let response;
  try {
    response = await fetch(`api/v1/${path}`, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The service does not answer; check that it still runs.");
  }
  const text = await response.text();
  let answer = null;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = null;
  }
  if (response.ok && answer !== null) return answer;
  throw new Error(answer?.error?.message || `The service answered with status ${response.status}.`);
}

const post = (path, body, signal) =>
  send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });

const at = (graph) => `graphs/${encodeURIComponent(graph)}`;

export const service = {
  listGraphs: async () => (await send("graphs")).graphs,
  /** @param {string} graph */
  getPicture: (graph, signal) => send(`${at(graph)}/picture`, { signal }),
  searchNodes: (graph, text) => send(`${at(graph)}/nodes?limit=12&query=${encodeURIComponent(text)}`),
  listGaps: (graph) => send(`${at(graph)}/gaps?limit=200`),
  view: (body, signal) => post("view", body, signal),
  look: (body) => post("look", body),
  explore: (body) => post("explore", body),
  recommend: (body) => post("recommend", body),
  /** Upload a file, or the notes of a folder, each with its path as its name. @param {File[]} files */
  upload(files, directed) {
    const form = new FormData();
    for (const file of files) form.append("file", file, file.path || file.name);
    return send(`graphs?directed=${directed}`, { method: "POST", body: form });
  },
};
