import { Config, type ConfigError } from "@acp-kit/orchestrator/Config"
import { Harness } from "@acp-kit/orchestrator/Harness"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"

const path = "/home/u/.kit/config.toml"

const refused = (source: string): Effect.Effect<ConfigError> => Effect.flip(Config.decode(path, source)).pipe(Effect.orDie)

const files = (source: string | Uint8Array | undefined) =>
  Layer.succeed(
    FileSystem.FileSystem,
    FileSystem.makeNoop({
      readFile: () => {
        const cause = { code: "ENOENT" }
        return source === undefined
          ? Effect.fail(PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "readFile", cause }))
          : Effect.succeed(typeof source === "string" ? new TextEncoder().encode(source) : source)
      },
    }),
  )

describe("Config", () => {
  it.effect("reads everything that the documents configure", () =>
    Effect.gen(function* () {
      const settings = yield* Config.decode(
        path,
        `
model = "m"
provider = "scripted"
reasoning_effort = "high"
context_window = 128000
mcp_config = "mcp.json"

[limits]
startup_seconds = 2.5

[acp.review]
command = "review-agent"
args = ["acp"]
permissions = "deny"

[subagent]
harness = "acp.review"

[subagent.harnesses."acp.review"]
allow_model_overrides = ["provider:model-a", "provider:model-b"]

[subagent.harnesses."acp.review".models]
review = "provider:model-a"

[subagent.harnesses."acp.review".config_options]
thought_level = "high"
mode = "code"
auto_compact = true
`,
      )
      expect(settings.warnings).toEqual([])
      expect(settings).toMatchObject({
        model: "m",
        provider: "scripted",
        reasoningEffort: "high",
        contextWindow: 128_000,
        mcpConfig: "mcp.json",
        limits: { startupMs: 2_500 },
        harness: "acp.review",
        profiles: [{ reference: "acp.review", command: "review-agent", args: ["acp"] }],
      })
      expect(settings.policies.get("acp.review")).toEqual({
        aliases: new Map([["review", "provider:model-a"]]),
        allowed: ["provider:model-a", "provider:model-b"],
        options: [
          ["auto_compact", true],
          ["mode", "code"],
          ["thought_level", "high"],
        ],
      })
    }),
  )

  it.effect("needs no file, and no harness in [subagent]", () =>
    Effect.gen(function* () {
      expect(yield* Effect.provide(Config.load(path), files(undefined))).toEqual(Config.empty(path))
      const settings = yield* Effect.provide(Config.load(path), files('[subagent.harnesses."acp.kit".models]\nfast = "m"\n'))
      expect(settings.harness).toBeUndefined()
      expect(settings.policies.get("acp.kit")?.aliases.get("fast")).toBe("m")
    }),
  )

  it.effect("fails where a file that was named is not there", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(Config.load(path, { required: true }), files(undefined)))
      expect(error.message).toBe(`invalid config ${path}: could not read config: there is no such file or directory`)
    }),
  )

  it.effect("refuses a file that is not UTF-8, with the place, and takes one with a byte order mark", () =>
    Effect.gen(function* () {
      const comment = Uint8Array.of(...new TextEncoder().encode("# é"), 0xff, 0x0a)
      const error = yield* Effect.flip(Effect.provide(Config.load(path), files(comment)))
      expect(error.message).toBe(
        `invalid config ${path}: could not read config: it is not UTF-8: the byte at offset 4 belongs to no character`,
      )
      expect((yield* Effect.provide(Config.load(path), files('\ufeffmodel = "m"\n'))).model).toBe("m")
    }),
  )

  it.effect("warns of unknown keys at every level, with line and nearest key", () =>
    Effect.gen(function* () {
      const { warnings } = yield* Config.decode(
        path,
        'modle = "m"\n[acp.review]\ncommand = "x"\n\nargz = ["y"]\n[subagent]\nnames = 3\n[limits]\nstartup_second = 3\n',
      )
      expect(warnings.map(({ key, line, nearest }) => [key, line, nearest])).toEqual([
        ["modle", 1, "model"],
        ["acp.review.argz", 5, "args"],
        ["subagent.names", 7, undefined],
        ["limits.startup_second", 9, "startup_seconds"],
      ])
    }),
  )

  it.effect("names path, line, key and nearest valid key of what is broken, all of it at once", () =>
    Effect.gen(function* () {
      const error = yield* refused('reasoning_effort = "hgih"\n\n[acp.review]\ncomand = "x"\n\n[acp.other]\ncommand = " "\n')
      expect(error.message).toBe(
        [
          `invalid config ${path}: line 1, reasoning_effort: must be one of "low", "medium", "high"; did you mean "high"?`,
          'line 4, acp.review.comand: ACP harness "review" has no command; did you mean "command"?',
          'line 7, acp.other.command: ACP harness "other" has an empty command',
        ].join("\n"),
      )
    }),
  )

  it.effect("says where the text is no TOML", () =>
    Effect.gen(function* () {
      const error = yield* refused('model = "a"\n[acp.review\n')
      expect(error.problems).toHaveLength(1)
      expect(error.problems[0]).toMatchObject({ line: 2 })
      expect(error.message).toMatch(/^invalid config .*: line 2: could not parse TOML: /)
    }),
  )

  it.effect("shows the line that is no TOML, and says what may be meant", () =>
    Effect.gen(function* () {
      const quotes = `illegal character in key: what holds more than A-Z a-z 0-9 _ - stands in quotes, as in [acp."my agent"]`
      const redefined = "trying to redefine an already defined table or value"
      const cases: ReadonlyArray<readonly [string, number, string]> = [
        ['model = "a"\nmodel = "b"\n', 2, `${redefined}, at: model = "b"`],
        ['[acp.a]\ncommand = "x"\n[acp.a]\r\n', 3, `${redefined}, at: [acp.a]`],
        ["[acp.ü]\n", 1, `${quotes}, at: [acp.ü]`],
        ['my key = "x"\n', 1, `${quotes}, at: my key = "x"`],
        ["model = 1\n  [acp.x\n", 2, "the line ends within a key, at: [acp.x"],
        ['model = "abc\nprovider = "x"\n', 1, 'the string is not closed on its line, at: model = "abc'],
        ['model = "a\u0001b"\n', 1, 'control characters are not allowed in strings, at: model = "a\\u0001b"'],
        ["model = opus\n", 1, "invalid value: a text stands in quotes, at: model = opus"],
        ["model =\n", 1, "there is no value, at: model ="],
        [`${"k".repeat(100)} ü = 1`, 1, `${quotes}, at: …${"k".repeat(39)} ü = 1`],
        [`k ü = ${"1".repeat(100)}`, 1, `${quotes}, at: k ü = ${"1".repeat(74)}…`],
      ]
      for (const [source, line, words] of cases) {
        expect((yield* refused(source)).message).toBe(`invalid config ${path}: line ${line}: could not parse TOML: ${words}`)
      }
    }),
  )

  it.effect("S121 refuses what no program can be started with: a NUL character, and control characters in a name", () =>
    Effect.gen(function* () {
      const nul = "must not contain the character U+0000: no program can be given it"
      const cases: ReadonlyArray<readonly [string, string]> = [
        ['[acp.a]\ncommand = "a\\u0000b"\n', `line 2, acp.a.command: ${nul}`],
        ['[acp.a]\ncommand = "a"\nargs = ["x", "\\u0000"]\n', `line 3, acp.a.args: ${nul}`],
        ['[acp."a\\u001bb"]\ncommand = "a"\n', 'line 1, acp."a\\u001bb": ACP harness names must not contain control characters'],
      ]
      for (const [source, words] of cases) expect((yield* refused(source)).message).toBe(`invalid config ${path}: ${words}`)
    }),
  )

  it.effect("finds the lines of keys behind comments, long strings, arrays and quoted tables", () =>
    Effect.gen(function* () {
      const source = [
        "# model = 1",
        'mcp_config = """',
        "[acp.fake]",
        'x"""',
        "[acp.a] # tables",
        'command = "c"',
        "args = [",
        '  "]", # ] "',
        "  'x',",
        "]",
        '[subagent.harnesses."acp.a"]',
        'allow_model_overrides = ["m", ""]',
        '[subagent.harnesses."acp.a".models]',
        'fast = "n"',
        "",
      ].join("\n")
      const error = yield* refused(source)
      expect(error.problems.map(({ key, line }) => [key, line])).toEqual([
        ['subagent.harnesses."acp.a".allow_model_overrides', 12],
        ['subagent.harnesses."acp.a".models.fast', 14],
      ])
      expect(error.problems[1]?.message).toBe(
        'subagent model alias "fast" resolves to "n", which is not in allow_model_overrides for "acp.a"',
      )
    }),
  )

  it.effect.each([
    ['[acp."a b"]\ncommand = "x"\n', "ACP harness names must be non-empty and contain neither whitespace nor dots", "CONFIG"],
    ['[acp."a.b"]\ncommand = "x"\n', "ACP harness names must be non-empty and contain neither whitespace nor dots", "CONFIG"],
    ['[subagent]\nharness = "acp.nobody"\n', 'unknown subagent ACP harness "acp.nobody"', "UNKNOWN_HARNESS"],
    ['[subagent]\nharness = "nobody"\n', 'ACP harness references must use acp.<name>, got "nobody"', "BAD_HARNESS_REFERENCE"],
    ['[subagent.harnesses."acp.x".models]\na = "b"\n', 'unknown subagent model policy harness "acp.x"', "UNKNOWN_HARNESS"],
    [
      '[subagent.harnesses."acp.kit".config_options]\nmodel = "m"\n',
      "use the subagent model override and model policy instead of config_options.model",
      "CONFIG",
    ],
    [
      '[subagent.harnesses."acp.kit".config_options]\neffort = 3\n',
      'subagent config option "effort" for "acp.kit" must have a non-empty key and a string or boolean value',
      "CONFIG",
    ],
    ['[subagent.harnesses."acp.kit".models]\n"" = "m"\n', 'subagent model aliases for "acp.kit" must be non-empty', "CONFIG"],
    ['[subagent.harnesses."acp.kit".models]\na = " "\n', 'subagent model alias "a" for "acp.kit" has an empty value', "CONFIG"],
    ["[limits]\nstartup_seconds = 0\n", "must be a positive number", "CONFIG"],
  ] as const)("refuses %j", ([source, message, code]) =>
    Effect.gen(function* () {
      const error = yield* refused(source)
      expect(error.problems.map((problem) => problem.message)).toEqual([message])
      expect(error.code).toBe(code)
    }),
  )
})

describe("Harness", () => {
  const self = ["/opt/bun", "/opt/kit.js"] as const

  const harnesses = (source: string) => Effect.map(Config.decode(path, source), (settings) => Harness.fromTables(settings, self))

  it.effect("has acp.kit, first and by default, with its own launch line", () =>
    Effect.gen(function* () {
      const { profiles, default: reference } = yield* harnesses("")
      expect(reference).toBe("acp.kit")
      expect(profiles).toMatchObject([
        {
          reference: "acp.kit",
          command: "/opt/bun",
          args: ["/opt/kit.js", "acp", "--protocol-version", "2"],
          source: "built-in current executable",
          isKit: true,
        },
      ])
    }),
  )

  it.effect("lets [acp.kit] replace executable and base arguments, each on its own", () =>
    Effect.gen(function* () {
      const line = (source: string) =>
        Effect.map(harnesses(source), ({ profiles }) => [profiles[0]?.command, ...(profiles[0]?.args ?? [])].join(" "))
      expect(yield* line('[acp.kit]\ncommand = "kit"\nargs = ["acp"]\n')).toBe("kit acp")
      expect(yield* line('[acp.kit]\ncommand = "kit"\n')).toBe("kit acp --protocol-version 2")
      expect(yield* line('[acp.kit]\nargs = ["acp"]\n')).toBe("/opt/bun /opt/kit.js acp")
    }),
  )

  it.effect("names what it does not know, and what is close", () =>
    Effect.gen(function* () {
      const known = yield* harnesses('[acp.claude]\ncommand = "npx"\n')
      const error = (asked: unknown) => Result.getOrThrow(Result.flip(Harness.resolve(known, asked)))
      expect(error("acp.cluade").message).toBe('unknown ACP harness "acp.cluade"; did you mean "acp.claude"?')
      expect(error("acp.cluade").code).toBe("UNKNOWN_HARNESS")
      for (const asked of ["claude", "acp.", "acp.a.b", "acp.a b", 3, null]) {
        expect(error(asked).message).toMatch(/^ACP harness references must use acp\.<name>/)
        expect(error(asked).code).toBe("BAD_HARNESS_REFERENCE")
      }
    }),
  )
})
