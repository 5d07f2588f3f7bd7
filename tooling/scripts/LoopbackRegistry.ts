interface Packument {
  readonly name: string
  readonly versions: Record<string, { dist: { tarball: string } }>
  readonly "dist-tags": Record<string, string>
  readonly _attachments?: Record<string, { data: string }>
}

/** An npm registry on a free port of the loopback interface that keeps what is published to it in memory. For tests of a release. */
export const loopbackRegistry = () => {
  const packages = new Map<string, Packument>()
  const tarballs = new Map<string, Uint8Array<ArrayBuffer>>()
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const path = decodeURIComponent(new URL(request.url).pathname).slice(1)
      if (request.method === "PUT") {
        const { _attachments = {}, ...added } = (await request.json()) as Packument
        for (const [file, { data }] of Object.entries(_attachments))
          tarballs.set(`${added.name}/-/${file}`, Buffer.from(data, "base64"))
        for (const version of Object.values(added.versions)) {
          const file = decodeURIComponent(version.dist.tarball).split("/-/")[1]
          version.dist.tarball = `http://127.0.0.1:${server.port}/${added.name}/-/${file}`
        }
        const before = packages.get(added.name)
        packages.set(added.name, { ...added, versions: { ...before?.versions, ...added.versions } })
        return Response.json({ ok: true }, { status: 201 })
      }
      const tarball = tarballs.get(path)
      if (tarball !== undefined) return new Response(tarball)
      const found = packages.get(path)
      return found === undefined ? Response.json({ error: "not found" }, { status: 404 }) : Response.json(found)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, packages, stop: () => server.stop(true) }
}
