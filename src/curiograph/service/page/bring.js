// Bring a graph: a file of links, a graph file or a folder of Markdown notes, dropped on the page or chosen.

import { count, make } from "./words.js";

const MAX_FILES = 20_000;

/** Read all notes below a dropped folder. @param {FileSystemEntry} entry @returns {Promise<File[]>} */
async function readEntry(entry, path = "") {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    file.path = path + file.name;
    return [file];
  }
  const reader = entry.createReader();
  const files = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject)); // at most 100 at a time
    if (!some.length || files.length > MAX_FILES) return files;
    for (const each of some) if (!each.name.startsWith(".")) files.push(...(await readEntry(each, `${path}${entry.name}/`)));
  }
}

const isNote = (file) => /\.md$/i.test(file.name);

/** Choose what to upload: the notes of a folder, or one file. @param {File[]} files */
function select(files) {
  const notes = files.filter(isNote);
  if (notes.length && (notes.length > 1 || notes[0].path?.includes("/"))) return notes;
  if (files.length === 1) return files;
  throw new Error(files.length ? `There are ${files.length} files and no Markdown notes; bring one file of links, or a folder of notes.` : "The folder is empty; bring a folder of Markdown notes.");
}

/**
 * Let visitors bring graphs.
 * @param {HTMLDialogElement} dialog
 * @param {(files: File[], directed: boolean) => Promise<void>} upload
 * @param {(message: string) => void} report
 */
export function setUpBringing(dialog, upload, report) {
  let directed = false;
  const send = async (gather) => {
    try {
      const files = select(await gather());
      const notes = files.length > 1 ? count(files.length, "note") : files[0].name;
      const status = make("p", { role: "status" }, `Reading ${notes} …`);
      dialog.replaceChildren(status);
      if (!dialog.open) dialog.showModal();
      await upload(files, directed);
      dialog.close();
    } catch (error) {
      dialog.close();
      report(error.message);
    }
  };
  const isDragged = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const gatherDropped = (event) => {
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [...event.dataTransfer.files];
    return async () => (entries.length ? (await Promise.all(entries.map((entry) => readEntry(entry)))).flat() : files);
  };
  document.addEventListener("dragover", (event) => {
    if (!isDragged(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dragging");
    if (!isDragged(event)) return;
    event.preventDefault();
    send(gatherDropped(event));
  });
  /** Open the dialog. */
  return () => {
    const pick = (values) => {
      const input = make("input", { type: "file", hidden: true, ...values });
      input.onchange = () => {
        const files = [...input.files].filter((file) => !/(^|\/)\./.test(file.webkitRelativePath));
        for (const file of files) file.path = file.webkitRelativePath || file.name;
        send(async () => files);
      };
      return input;
    };
    const file = pick({ "aria-label": "a file" });
    const folder = pick({ webkitdirectory: true, "aria-label": "a folder of notes" });
    const check = make("input", { type: "checkbox", checked: directed, onchange: () => (directed = check.checked) });
    dialog.replaceChildren(
      make("h2", {}, "Bring your own graph"),
      make("div", { className: "drop" }, "Drop a file of links, a graph file, or a folder of Markdown notes anywhere on the page."),
      make("p", { className: "note" }, "A list of links has one link per line, as in “tea,honey” or “tea;honey;2”. Also: GraphML, GML, GEXF, node-link JSON. Nobody sees your graph who does not have its address."),
      make("label", {}, check, " links have a direction"),
      file,
      folder,
      make(
        "div",
        { className: "actions" },
        make("button", { className: "primary", onclick: () => file.click() }, "Choose a file"),
        make("button", { onclick: () => folder.click() }, "Choose a folder of notes"),
        make("button", { onclick: () => dialog.close() }, "Cancel"),
      ),
    );
    dialog.showModal();
  };
}
