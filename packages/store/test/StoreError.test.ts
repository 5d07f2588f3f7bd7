import { describe, expect, it } from "@effect/vitest"
import { DiskError } from "../src/Disk.ts"
import { ofDisk } from "../src/StoreError.ts"

describe("what the disk refused", () => {
  it("is told with what helps: another place where the file system is read-only, chown where it is not", () => {
    const message = (code: string) => ofDisk(new DiskError({ call: "makeDirectory", path: "/home", code })).message
    expect(message("EROFS")).toBe(
      "access to /home was denied (EROFS); its file system is read-only: set KIT_HOME to a directory on one that is not",
    )
    expect(message("EACCES")).toContain("chown them, or set KIT_HOME elsewhere")
  })
})
