// A client of the HTTP door of mf-relay, for browsers, without generated code (docs/http.md).
//
//   const door = new Door("http://127.0.0.1:8080");
//   await door.call("shop.Shop.find", { most: 1 });
//   for await (const number of door.stream("shop.Shop.count", { to: 3 })) console.log(number);
//   for await (const { value, agent } of door.subscribe("shop.Sales", { agents: "*" })) console.log(agent, value);
//   const talk = door.talk("shop.Shop.shout"); talk.send("sea"); talk.end(); for await (const word of talk) …

export class Problem extends Error {
  /** `problem`: the JSON of the answer, with code, execution, and error and fields of a declared error. */
  constructor(problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export class Door {
  constructor(address, { token } = {}) {
    this.address = address.replace(/\/$/, "");
    this.token = token;
  }

  /** The result of a call; of an array of arguments, an array of results and Problems. */
  async call(method, given = {}, options = {}) {
    const answer = await this.#post(method, given, options, "application/json");
    const result = await answer.json();
    if (!Array.isArray(given)) return result;
    return result.map((each) => (each.problem ? new Problem(each.problem) : each.result));
  }

  /** The values of a method that returns a stream. */
  async *stream(method, given = {}, options = {}) {
    const answer = await this.#post(method, given, options, "application/x-ndjson");
    let rest = "";
    for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        if (message.problem) throw new Problem(message.problem);
        if ("end" in message) return message.end;
        yield message.value;
      }
    }
    throw new Error("the stream has ended too soon");
  }

  /** The messages of a topic: { value, agent, missed }. `agents` is a pattern. */
  subscribe(topic, { agents = "*", ...options } = {}) {
    return new Talk(this.#socket(`topics/${topic}`), { agents, token: this.token, ...options }, (message) => message);
  }

  /** A call whose values go in both directions. */
  talk(method, given = {}, options = {}) {
    const opening = { arguments: given, token: this.token, ...options };
    return new Talk(this.#socket(path(method)), opening, (message) => message.value);
  }

  async #post(method, given, { agent, deadline, idempotent }, accept) {
    const headers = { "Content-Type": "application/json", Accept: accept };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (agent !== undefined) headers["MF-Agent"] = encodeURIComponent(agent);
    if (deadline !== undefined) headers["MF-Deadline"] = deadline;
    if (idempotent) headers["MF-Idempotent"] = "true";
    const body = JSON.stringify(given);
    const answer = await fetch(`${this.address}/v1/${path(method)}`, { method: "POST", headers, body });
    if (!answer.ok) throw new Problem(await answer.json());
    return answer;
  }

  #socket(where) { return new WebSocket(`${this.address.replace(/^http/, "ws")}/v1/${where}`); }
}

class Talk {
  #socket; #opened; #arrived = []; #wake = () => {};
  constructor(socket, opening, read) {
    this.#socket = socket;
    this.read = read;
    this.#opened = new Promise((opened) => (socket.onopen = opened)).then(() => socket.send(JSON.stringify(opening)));
    socket.onmessage = (event) => this.#arrive(JSON.parse(event.data));
    socket.onclose = () => this.#arrive({ problem: { detail: "the connection has ended", code: "CONNECTION_LOST" } });
  }

  #arrive(message) { this.#arrived.push(message); this.#wake(); }
  send(value) { this.#opened.then(() => this.#socket.send(JSON.stringify({ value }))); }
  end() { this.#opened.then(() => this.#socket.send('{"end":null}')); }
  close() { this.#socket.close(); }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#arrived.length === 0) await new Promise((wake) => (this.#wake = wake));
      const message = this.#arrived.shift();
      if (message.problem) throw new Problem(message.problem);
      if ("end" in message) return;
      yield this.read(message);
    }
  }
}

const path = (method) => method.replace(/\.(?=[^.]*$)/, "/");
