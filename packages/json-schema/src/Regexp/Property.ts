const compiles = (source: string): boolean => {
  try {
    new RegExp(source, "v")
    return true
  } catch {
    return false
  }
}

/** Names as Unicode compares them: case, spaces, hyphens, underscores and a leading `is` do not count. */
const loose = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[\s_-]/g, "")
    .replace(/^is(?=.)/, "")

/** Names of several words, which the runtime wants spelt as they are here. */
const spelt: ReadonlyMap<string, string> = new Map(
  `Cased_Letter Close_Punctuation Connector_Punctuation Currency_Symbol Dash_Punctuation Decimal_Number Enclosing_Mark Final_Punctuation
  Initial_Punctuation Letter_Number Line_Separator Lowercase_Letter Math_Symbol Modifier_Letter Modifier_Symbol Nonspacing_Mark
  Open_Punctuation Other_Letter Other_Number Other_Punctuation Other_Symbol Paragraph_Separator Private_Use Space_Separator Spacing_Mark
  Titlecase_Letter Uppercase_Letter
  ASCII_Hex_Digit Bidi_Control Bidi_Mirrored Case_Ignorable Changes_When_Casefolded Changes_When_Casemapped Changes_When_Lowercased
  Changes_When_NFKC_Casefolded Changes_When_Titlecased Changes_When_Uppercased Default_Ignorable_Code_Point Emoji_Component Emoji_Modifier
  Emoji_Modifier_Base Emoji_Presentation Extended_Pictographic Grapheme_Base Grapheme_Extend Hex_Digit IDS_Binary_Operator
  IDS_Trinary_Operator ID_Continue ID_Start Join_Control Logical_Order_Exception Noncharacter_Code_Point Pattern_Syntax
  Pattern_White_Space Quotation_Mark Regional_Indicator Sentence_Terminal Soft_Dotted Terminal_Punctuation Unified_Ideograph
  Variation_Selector White_Space XID_Continue XID_Start
  Anatolian_Hieroglyphs Canadian_Aboriginal Caucasian_Albanian Cypro_Minoan Dives_Akuru Egyptian_Hieroglyphs Gunjala_Gondi Hanifi_Rohingya
  Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian Kayah_Li Khitan_Small_Script Linear_A Linear_B Masaram_Gondi Meetei_Mayek
  Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Nag_Mundari New_Tai_Lue Nyiakeng_Puachue_Hmong Ol_Chiki Old_Hungarian Old_Italic
  Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Pahawh_Hmong Pau_Cin_Hau Phags_Pa
  Psalter_Pahlavi SignWriting Sora_Sompeng Syloti_Nagri Tai_Le Tai_Tham Tai_Viet Warang_Citi Zanabazar_Square ASCII_Hex_Digit
  AHex Bidi_C Bidi_M CWCF CWCM CWKCF CWL CWT CWU IDSB IDST NChar WSpace`
    .split(/\s+/)
    .map((name) => [loose(name), name]),
)

const titled = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)

/** How the runtime may spell a name. */
const spellings = (name: string): ReadonlyArray<string> => {
  const word = loose(name)
  const known = spelt.get(word)
  return [...(known === undefined ? [] : [known]), titled(word), word.toUpperCase(), word]
}

const keys: { readonly [key: string]: "gc" | "sc" | "scx" } = {
  gc: "gc",
  generalcategory: "gc",
  sc: "sc",
  script: "sc",
  scx: "scx",
  scriptextensions: "scx",
}

const untabled: ReadonlySet<string> = new Set("age gcb graphemeclusterbreak wb wordbreak sb sentencebreak".split(" "))

/** `key`, `value` and whether they are compared by `!=`, of `\p{key=value}`, `\p{key:value}` or `\p{key!=value}`. */
const parted = (name: string): readonly [key: string, value: string | undefined, unequal: boolean] => {
  const found = /^(.*?)(!=)(.*)$/s.exec(name) ?? /^(.*?)(:)(.*)$/s.exec(name) ?? /^(.*?)(=)(.*)$/s.exec(name)
  return found === null ? [name, undefined, false] : [found[1]!, found[3]!, found[2] === "!="]
}

/** Whether a property exists whose values the runtime does not know. */
export const isUntabled = (name: string): boolean => {
  const [key, value] = parted(name)
  return value !== undefined && untabled.has(loose(key))
}

/** `\p{…}` under the loose names of Rust: general categories, scripts and binary properties, bare or as `gc=`, `sc=`, `scx=`. */
export const propertyClass = (name: string, negated: boolean): string | undefined => {
  const [key, value, unequal] = parted(name.replace(/^\^/, ""))
  const away = [negated, name.startsWith("^"), unequal].filter(Boolean).length % 2 === 1
  const property = value === undefined ? undefined : keys[loose(key)]
  if (value !== undefined && property === undefined) return undefined
  const candidates =
    property === undefined
      ? [...(loose(key) === "any" ? ["Any"] : []), ...spellings(key), ...spellings(key).map((word) => `Script=${word}`)]
      : spellings(value!).map((word) => `${property}=${word}`)
  for (const candidate of candidates) {
    const source = `\\${away ? "P" : "p"}{${candidate}}`
    if (/^[\w=]+$/.test(candidate) && compiles(source)) return `[${source}]`
  }
  return undefined
}
