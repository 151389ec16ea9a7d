import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// From the first key to the receipt and back, as a person goes who has never seen the store.
@Suite(
  "The whole way in a terminal", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct WholeWayTests {
  @Test("look, filter, follow, compare, find the loss, map it, rehearse, migrate, roll back")
  func wholeWay() {
    let demo = InterfaceDemo()
    let before = demo.fingerprint
    let sum = demo.sum
    let terminal = demo.open(width: 120, height: 36)

    // Look: a link of the first row is followed, and left again.
    let first = terminal.screen(
      showing: "2,060", "Amount/p1", "model “Recipes”", "model “Recipes”  ✓ exact")
    #expect(first.contains("model “Recipes”  ✓ exact"), "\(first)")
    terminal.send("Tab", "G", "Enter")
    let followed = terminal.screen(
      showing: "› recipe › Recipe/p1", "Amount/p1 › recipe › Recipe/p1")
    #expect(followed.contains("Amount/p1 › recipe › Recipe/p1"), "\(followed)")
    terminal.send("BSpace")
    _ = terminal.screen(showing: "Amount/p1 ─")

    // Filter: the recipes that a version of the model would take something from.
    terminal.send("BTab", "BTab", "g", "-l jjjjjjj", "Tab", "/")
    terminal.send("-l \"legacyCode CONTAINS '166'\"", "Enter")
    let wanted = "Recipe  663 ─ where legacyCode CONTAINS '166' ─"
    let filtered = terminal.screen(showing: wanted)
    #expect(filtered.contains(wanted), "\(filtered)")

    // Compare: the property that is gone, and what that means to this store.
    terminal.send("2")
    _ = terminal.screen(showing: "Recipes  ⟷  Recipes 2", "change 1 of")
    terminal.send("o")
    _ = terminal.screen(showing: "Compare")
    terminal.send("Enter")
    _ = terminal.screen(showing: "…with which")
    terminal.send("g", "j", "j", "Enter")
    _ = terminal.screen(showing: "Recipes  ⟷  Recipes 3", "change 1 of")
    terminal.send("/", "-l legacy", "Enter", "n")
    let lost = terminal.screen(
      showing: "135 values would be lost", "attribute “legacyCode” removed",
      "give it the renaming identifier “legacyCode”")
    #expect(lost.contains("attribute “legacyCode” removed"), "\(lost)")
    #expect(lost.contains("give it the renaming identifier “legacyCode”"), "\(lost)")
    terminal.send("Tab", "Enter")
    let rows = terminal.screen(
      showing: "where legacyCode != nil ─ 135", "2 goes back to Diff",
      "Recipe  663 ─ where legacyCode != nil ─ 135")
    #expect(rows.contains("Recipe  663 ─ where legacyCode != nil ─ 135"), "\(rows)")

    // What is lost in numbers: the plan for that version.
    terminal.send("3")
    _ = terminal.screen(showing: "Recipes → Recipes 2", "✓ can migrate")
    terminal.send("o")
    _ = terminal.screen(showing: "Migrate to which version")
    terminal.send("j", "Enter")
    let refused = terminal.screen(
      showing: "Recipes → Recipes 3", "135 values would be lost", "62 objects would be lost",
      "(134110)", "! Recipe.legacyCode  135 values would be lost")
    #expect(refused.contains("! Recipe.legacyCode  135 values would be lost"), "\(refused)")

    // Map: the attribute got another name, one needs a value, an entity may go.
    terminal.send("Tab", "G", "g", "j", "j", "r")
    let names = terminal.screen(
      showing: "Recipe.legacyCode becomes…", "Recipe.notes    String, same type only")
    #expect(names.contains("Recipe.notes    String, same type only"), "\(names)")
    // Nothing is likely, so nothing is what Enter would take.
    terminal.send("j", "Enter")
    _ = terminal.screen(showing: "✎ Recipe.notes was formerly Recipe.legacyCode", "(134110)")
    terminal.send("g", "=")
    _ = terminal.screen(showing: "Recipe.difficulty =")
    terminal.send("C-u", "-l \"coalesce(difficulty, 'medium')\"", "Enter")
    _ = terminal.screen(
      showing: "✎ Recipe.difficulty = coalesce(difficulty, 'medium')", "! 1 loss")
    terminal.send("g", "a")
    _ = terminal.screen(showing: "Accept the loss")
    terminal.send("-l Draft", "Enter")
    let ready = terminal.screen(showing: "losses accepted  ✓ can migrate")
    #expect(ready.contains("losses accepted  ✓ can migrate"), "\(ready)")

    // Rehearse: nothing is put in place.
    terminal.send("R")
    let rehearsed = terminal.screen(
      showing: "Rehearsed; the store is unchanged", "✓ rehearsed “Recipes” → “Recipes 3”")
    #expect(rehearsed.contains("✓ rehearsed “Recipes” → “Recipes 3”"), "\(rehearsed)")
    #expect(demo.fingerprint == before)
    terminal.send("q")

    // Migrate, with a word before the cut-over.
    _ = terminal.migrate(pausing: true)
    let verified = terminal.screen(showing: "− Draft")
    #expect(verified.contains("− Draft"), "\(verified)")
    #expect(demo.sum == sum)
    terminal.send("y")
    let receipt = terminal.screen(
      showing: "to roll back: b, or", "model “Recipes 3”", "✓ migrated “Recipes” → “Recipes 3”")
    #expect(receipt.contains("✓ migrated “Recipes” → “Recipes 3”"), "\(receipt)")
    #expect(demo.sum != sum)

    // The values that a forgotten rename would have lost.
    let kept = Shell.output(
      of: "'\(Shell.strata)' rows '\(demo.store)' Recipe --where \"notes == 'RB-1661'\" --json",
      through: demo.folder + "/kept")
    #expect(kept.contains("\"notes\":\"RB-1661\""), "\(kept)")

    // And back.
    terminal.send("b")
    _ = terminal.screen(showing: "Backups", "last changed", "Recipes.backup-1")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Roll back Recipes.sqlite?", "On disk")
    terminal.send("y")
    let back = terminal.screen(
      showing: "✓ rolled back to Recipes.backup-1", "model “Recipes”",
      "the replaced store is kept")
    #expect(back.contains("the replaced store is kept"), "\(back)")
    #expect(demo.sum == sum)
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
  }
}
