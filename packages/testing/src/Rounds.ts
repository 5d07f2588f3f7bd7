/** How often a random test runs: on any machine, where `KIT_TEST_CI=1` is set, and where `KIT_TEST_LONG=1` is; `KIT_TEST_ROUNDS` overrides all three. */
export const rounds = (counts: { readonly quick: number; readonly ci: number; readonly long: number }): number => {
  const { KIT_TEST_ROUNDS: asked, KIT_TEST_LONG: long, KIT_TEST_CI: ci } = process.env
  if (asked !== undefined) return Number(asked)
  return long === "1" ? counts.long : ci === "1" ? counts.ci : counts.quick
}
