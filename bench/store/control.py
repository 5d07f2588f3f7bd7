"""The same operations in Python, with nothing but its standard library: `control.py NAME HOME [AGENT]`. Prints one line of JSON, as operations.ts does."""
import json, os, sys, time, zlib

name, home = sys.argv[1], sys.argv[2]
frame = '{"jsonrpc":"2.0","method":"session/update","params":{"text":"' + "x" * 300 + '"}}'


def timed(rounds, run):
    values = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        values.append((time.perf_counter() - began) * 1000)
    return values


def append():
    fd = os.open(os.path.join(home, "control.log"), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    line = (json.dumps({"q": 1, "t": 0, "k": "event", "e": json.loads(frame)}) + "\n").encode()

    def one():
        os.write(fd, line)
        os.fdatasync(fd)

    def many():
        for _ in range(32):
            os.write(fd, line)
        os.fdatasync(fd)

    timed(50, one)
    single, group = [], []
    for _ in range(60):
        single += timed(4, one)
        group += [ms / 32 for ms in timed(2, many)]
    return {"single": single, "group": group}


def rewrite():
    target = os.path.join(home, "control.json")
    messages, written = [], 0
    began = time.perf_counter()
    for turn in range(200):
        text = f"{turn} "
        messages.append({"role": "assistant", "text": text * (50000 // len(text))})
        data = json.dumps({"messages": messages}, indent=2).encode()
        written += len(data)
        fd = os.open(target + ".tmp", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        os.replace(target + ".tmp", target)
        parent = os.open(home, os.O_RDONLY)
        os.fsync(parent)
        os.close(parent)
    return {"ms": [(time.perf_counter() - began) * 1000], "bytes": written}


def list_agents():
    parent = os.path.join(home, "sessions/big/subagents")

    def run():
        rows = []
        for entry in os.scandir(parent):
            with open(os.path.join(entry.path, "meta.json"), "rb") as file:
                rows.append(json.loads(file.read()))
        rows.sort(key=lambda row: row["updated_at"], reverse=True)

    return {"ms": timed(5, run)}


def tail():
    path = os.path.join(home, "sessions/big/subagents", sys.argv[3], "wire.log")

    def run():
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            length = 65536
            while True:
                file.seek(max(0, size - length))
                lines = file.read().split(b"\n")
                if len(lines) > 201 or length >= size:
                    return [json.loads(line) for line in lines[-201:-1]]
                length *= 2

    return {"ms": timed(20, run)}


def replay():
    path = os.path.join(home, "sessions/big/subagents", sys.argv[3], "wire.log")
    count = 0

    def run():
        nonlocal count
        count = 0
        with open(path, "rb") as file:
            for line in file:
                body = line[:-17]
                if f"{zlib.crc32(body):08x}".encode() != line[-11:-3]:
                    raise ValueError("checksum")
                json.loads(line)
                count += 1

    ms = timed(2, run)
    return {"ms": ms, "count": count}


print(json.dumps({"append": append, "rewrite": rewrite, "list": list_agents, "tail": tail, "replay": replay}[name]()))
