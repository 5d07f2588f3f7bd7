/**
 * Proves that the packages stand alone: builds and packs every public member, publishes it to a registry on the loopback
 * interface, installs each one into an empty folder and runs its script of `src/` there on Bun, Deno and Node; then
 * starts the packed `kit` in each of the ways a person would. Needs the npm registry for Effect and the two runtimes.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loopbackRegistry } from "../tooling/scripts/LoopbackRegistry.ts"
import { outcomes, output, same } from "../tooling/scripts/Outcomes.ts"
import { pack, publish, type Tarball } from "../tooling/scripts/Publishing.ts"
import { closingLine, type Tally } from "../tooling/scripts/TestReport.ts"
import { root } from "../tooling/scripts/Workspace.ts"

const bun = process.execPath
const runtimePackages = { deno: "2.9.6", [`node-${process.platform}-${process.arch}`]: "24.21.0" }

/** Packages whose tests are the same on every runtime. */
const portable = ["json-schema", "platform", "protocol", "runlet", "store"]

const vitest = join(root, "node_modules/vitest/vitest.mjs")

/** Scripts of `src/` that say more than `ok`: that of the orchestrator is the README's, and is given an agent. */
const scripts: Readonly<Record<string, { readonly args: ReadonlyArray<string>; readonly prints: string }>> = {
  orchestrator: {
    args: [process.execPath, join(root, "packages/testing/src/scripted-agent.ts")],
    prints: '["echo: one","echo: two","echo: three",2]',
  },
}

/** Runs all of it and counts. */
export const runtimeTests = async (): Promise<Tally> => {
  const scratch = mkdtempSync(join(tmpdir(), "kit-runtime-tests-"))
  const registry = loopbackRegistry()
  const { check, tally } = outcomes("runtime-tests")

  /** An empty project; only our scope comes from the loopback registry, and no cache knows an earlier build. */
  const project = (name: string) => {
    const directory = join(scratch, name)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, "package.json"), '{ "private": true, "type": "module" }\n')
    writeFileSync(join(directory, ".npmrc"), `@acp-kit:registry=${registry.url}\n`)
    return directory
  }
  const env = {
    BUN_INSTALL_CACHE_DIR: join(scratch, "cache"),
    NPM_CONFIG_TOKEN: "loopback",
    HOME: join(scratch, "home"),
    KIT_HOME: join(scratch, "kit"),
  }
  const offline = { ...env, BUN_CONFIG_REGISTRY: "http://127.0.0.1:9", npm_config_registry: "http://127.0.0.1:9" }

  const inspect = async (tarball: Tarball) => {
    const files = (await output(["tar", "-tzf", tarball.file], { cwd: scratch })).split("\n")
    for (const file of ["package/package.json", "package/LICENSE", "package/README.md"]) {
      if (!files.includes(file)) throw new Error(`${tarball.file} lacks ${file}`)
    }
    const manifest = await output(["tar", "-xzOf", tarball.file, "package/package.json"], { cwd: scratch })
    const { devDependencies: _, ...shipped } = JSON.parse(manifest) as { devDependencies: unknown }
    if (/"(?:workspace|catalog):/.test(JSON.stringify(shipped)))
      throw new Error(`${tarball.file} names the workspace:\n${manifest}`)
  }

  try {
    let tarballs: ReadonlyArray<Tarball> = []
    await check("C02 every package builds and packs with its licence and readme, and names no workspace", async () => {
      await output(["turbo", "run", "build"], { cwd: root })
      tarballs = await pack(root, join(scratch, "tarballs"))
      for (const tarball of tarballs) await inspect(tarball)
    })
    const kit = tarballs.find((tarball) => tarball.member.manifest.name === "@acp-kit/kit")

    await check("a release publishes every package after those it depends on", async () => {
      for (const tarball of tarballs) await publish(tarball, registry.url, false, env)
      same([...registry.packages.keys()].join(" "), tarballs.map((tarball) => tarball.member.manifest.name).join(" "))
    })

    await check("a release that is repeated publishes nothing again", async () => {
      const printed = await output([bun, "tooling/scripts/release.ts", "--dry-run", "--registry", registry.url], {
        cwd: root,
        env,
      })
      const expected = tarballs.map(({ member: { manifest } }) => `${manifest.name} ${manifest.version}: is there already`)
      same(printed.trim().split("\n").slice(-expected.length).join("\n"), expected.join("\n"))
    })

    await check("C04 the superseded packages do not load beside Effect 4, as the decision record quotes", async () => {
      const directory = project("superseded")
      await output([bun, "add", "effect@4.1.0", "@effect/schema@0.75.5", "@effect/platform@0.97.2"], { cwd: directory, env })
      const record = readFileSync(join(root, "docs/decisions/0001-effect-4.md"), "utf8")
      for (const [module, why] of [
        ["@effect/schema/Schema", "Cannot find module 'effect/ConfigError'"],
        ["@effect/platform/FileSystem", "Export named 'GenericTag' not found in module"],
      ] as const) {
        const { exitCode, stderr } = Bun.spawnSync([bun, "-e", `import "${module}"`], { cwd: directory })
        if (exitCode === 0 || !stderr.includes(why)) throw new Error(`import "${module}": exit ${exitCode}\n${stderr}`)
        if (!record.includes(`import "${module}"`) || !record.includes(why))
          throw new Error(`the record does not quote ${module}`)
      }
    })

    const runtimes = project("runtimes")
    await check("Deno and Node are installed", async () => {
      const wanted = Object.entries(runtimePackages).map(([name, version]) => `${name}@${version}`)
      await output([bun, "add", ...wanted], { cwd: runtimes, env })
    })
    const binary = (name: string) => join(runtimes, "node_modules/.bin", name)
    const launch: Readonly<Record<string, ReadonlyArray<string>>> = {
      bun: [bun],
      deno: [binary("deno"), "run", "-A", "--no-lock"],
      node: [binary("node")],
    }

    /** A program on Deno 2.9 now and then does not see what came on its stdin, about once in thirty conversations; so no agent of a test runs on it. */
    const agentsOf = (runtime: string) => (runtime === "deno" ? { KIT_TEST_AGENT_RUNTIME: bun } : {})

    for (const tarball of tarballs.filter((one) => one !== kit)) {
      const { name } = tarball.member.manifest
      const short = name.replace("@acp-kit/", "")
      const directory = project(short)
      const installed = await check(`${name} installs into an empty folder`, async () => {
        await output([bun, "add", name], { cwd: directory, env })
        cpSync(join(root, "runtime-tests/src", `${short}.ts`), join(directory, "main.ts"))
      })
      if (!installed) continue
      for (const [runtime, command] of Object.entries(launch)) {
        await check(`C02 ${name} is imported alone and works on ${runtime}`, async () => {
          const { args, prints } = scripts[short] ?? { args: [], prints: "ok" }
          same(await output([...command, "main.ts", ...args], { cwd: directory, env, seconds: 60 }), `${prints}\n`)
        })
      }
    }

    for (const name of portable) {
      for (const runtime of ["deno", "node"]) {
        await check(`the test suite of ${name} passes on ${runtime}`, async () => {
          await output([...(launch[runtime] as ReadonlyArray<string>), vitest, "run", "--reporter=dot"], {
            cwd: join(root, "packages", name),
            env: { KIT_TEST_CI: undefined, KIT_TEST_LONG: undefined, ...agentsOf(runtime) },
          })
        })
      }
    }

    const exchange = (runtime: string, what: string, home: string) =>
      output([...(launch[runtime] as ReadonlyArray<string>), "test/scripts/Exchange.ts", what, home, runtime], {
        cwd: join(root, "packages/store"),
        seconds: 60,
      })
    for (const writer of Object.keys(launch)) {
      await check(`T13 what the store wrote on ${writer} every runtime reads alike and goes on with`, async () => {
        const home = join(scratch, `exchange-${writer}`)
        const readAlike = async () => {
          const seen = await exchange(writer, "read", home)
          for (const reader of Object.keys(launch)) same(await exchange(reader, "read", home), seen)
        }
        await exchange(writer, "write", home)
        await readAlike()
        for (const reader of Object.keys(launch)) await exchange(reader, "append", home)
        await readAlike()
      })
    }

    if (kit !== undefined) {
      const version = `kit ${kit.member.manifest.version}\n`
      const program = ["compose", "--no-session", "-e", "return 6 * 7"]
      const start = async (prefix: ReadonlyArray<string>, cwd: string) => {
        same(await output([...prefix, "--version"], { cwd, env: offline, seconds: 60 }), version)
        same(await output([...prefix, ...program], { cwd, env: offline, seconds: 60 }), "42\n")
      }
      await check("C03 bunx kit works in the repository, offline", () => start([bun, "x", "kit"], root))
      await check("C03 bunx kit works in an empty folder from the packed tarball, offline", () =>
        start([bun, "x", "--package", kit.file, "kit"], project("empty")),
      )
      await check("C03 bunx kit works where @acp-kit/kit is installed, offline", async () => {
        const directory = project("installed")
        await output([bun, "add", "@acp-kit/kit"], { cwd: directory, env })
        await start([bun, "x", "kit"], directory)
      })
      await check("C03 bunx @acp-kit/kit works where nothing is installed, from the registry", async () => {
        const directory = project("stranger")
        same(
          await output([bun, "x", "@acp-kit/kit", "--version"], {
            cwd: directory,
            env: { ...env, BUN_CONFIG_REGISTRY: registry.url },
            seconds: 60,
          }),
          version,
        )
      })
    }
  } finally {
    registry.stop()
    rmSync(scratch, { recursive: true, force: true })
  }
  return tally()
}

if (import.meta.main) {
  const total = await runtimeTests()
  console.log(`\n${closingLine(total)}`)
  process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)
}
