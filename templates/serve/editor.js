// A text area with numbers of lines and marks below the text. Nothing of the text becomes HTML.

export class Editor {
  constructor(root, changed) {
    this.gutter = made("div", "gutter");
    this.marks = made("pre", "marks");
    this.area = made("textarea");
    this.problems = [];
    for (const each of [this.gutter, this.marks]) each.setAttribute("aria-hidden", "true");
    this.area.setAttribute("aria-label", root.dataset.label);
    this.area.wrap = "off";
    this.area.spellcheck = false;
    this.area.autocapitalize = "off";
    const pane = made("div", "pane");
    pane.append(this.marks, this.area);
    root.append(this.gutter, pane);
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.area.addEventListener("input", () => {
      this.show([]);
      changed();
    });
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.show([]);
  }

  // Tab indents; behind Esc it moves the focus, as everywhere else.
  pressed(event) {
    if (event.key === "Tab" && !this.leaves && !event.shiftKey && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      document.execCommand("insertText", false, "  ");
    }
    this.leaves = event.key === "Escape";
  }

  follow() {
    this.gutter.scrollTop = this.marks.scrollTop = this.area.scrollTop;
    this.marks.scrollLeft = this.area.scrollLeft;
  }

  // `problems` as the compiler has them: lines and columns from 1, columns in code points.
  show(problems) {
    const lines = this.text.split("\n");
    this.starts = [0];
    for (const line of lines) this.starts.push(this.starts.at(-1) + line.length + 1);
    this.problems = problems.filter((each) => each.line).map((each) => ({ ...each, ...this.place(each, lines) }));
    const worst = new Map();
    for (const each of this.problems) {
      if (worst.get(each.line) !== "error") worst.set(each.line, each.severity);
    }
    this.gutter.replaceChildren(
      ...lines.map((_, at) => {
        const line = made("div", worst.get(at + 1) ?? "");
        line.textContent = String(at + 1);
        return line;
      }),
    );
    this.marks.replaceChildren(...this.pieces());
    this.follow();
  }

  pieces() {
    const found = [];
    let at = 0;
    for (const each of [...this.problems].sort((one, two) => one.start - two.start)) {
      if (each.start < at) continue;
      const mark = made("mark", each.severity);
      mark.textContent = this.text.slice(each.start, each.end);
      found.push(this.text.slice(at, each.start), mark);
      at = each.end;
    }
    return [...found, this.text.slice(at) + "\n"];
  }

  place(each, lines) {
    const start = this.offset(each.line, each.column, lines);
    const end = this.offset(each.end_line ?? each.line, each.end_column ?? each.column + 1, lines);
    return { start, end: Math.max(end, start + 1) };
  }

  offset(line, column, lines) {
    const text = lines[line - 1] ?? "";
    return this.starts[line - 1] + [...text].slice(0, column - 1).join("").length;
  }

  select(problem) {
    const { start, end } = this.place(problem, this.text.split("\n"));
    this.area.focus();
    this.area.setSelectionRange(start, end);
    const height = this.area.scrollHeight / this.text.split("\n").length;
    this.area.scrollTop = Math.max(0, (problem.line - 4) * height);
  }
}

export function made(name, style = "") {
  const element = document.createElement(name);
  if (style) element.className = style;
  return element;
}
