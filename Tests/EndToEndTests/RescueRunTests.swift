import SQLite
import TestSupport
import Testing

@Suite(
  "Rescue in a terminal", .serialized,
  .enabled(if: Shell.hasTmux, "tmux is not installed"),
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct RescueRunTests {
  @Test("a store without its first page opens on Rescue, is salvaged, and the new one opens")
  func firstPage() {
    let demo = InterfaceDemo()
    Shell.run("dd if=/dev/zero of='\(demo.store)' bs=4096 count=1 conv=notrunc 2>&-")
    let before = demo.sum
    let terminal = demo.open()
    let screen = terminal.screen(
      showing: "▸5 Rescue", "header", "what can be recovered", "2,060", "✗ does not open",
      "The header is all zeros")
    #expect(screen.contains("✗ does not open"), "\(screen)")
    #expect(screen.contains("The header is all zeros"), "\(screen)")
    // What can be read is there to be looked at meanwhile.
    terminal.send("1")
    let rows = terminal.screen(showing: "▸1 Browse", "Amount/p1", "2,060")
    #expect(rows.contains("2,060"), "\(rows)")
    terminal.send("5")
    _ = terminal.screen(showing: "▸5 Rescue")
    terminal.send("s")
    let question = terminal.screen(showing: "Salvage into", "Recipes-salvaged.sqlite")
    #expect(question.contains("Recipes-salvaged.sqlite"), "\(question)")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Salvage into a new store?", "On disk")
    #expect(!demo.names.contains("Recipes-salvaged.sqlite"))
    terminal.send("y")
    let report = terminal.screen(
      showing: "report", "objects saved in", "nothing is known to be lost",
      "it opens with the model in it")
    #expect(report.contains("it opens with the model in it"), "\(report)")
    terminal.send("Enter")
    let new = terminal.screen(
      showing: "Recipes-salvaged.sqlite", "▸1 Browse", "2,060", "✓ exact",
      without: ["does not open"])
    #expect(new.contains("✓ exact") && !new.contains("does not open"), "\(new)")
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
    #expect(demo.sum == before)
    #expect(demo.names.contains("Recipes-salvaged.sqlite") && !demo.names.contains(".salvaging"))
  }

  @Test(
    "of an encrypted store the screen says so, and that nothing can be read",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func encrypted() {
    let demo = InterfaceDemo(objects: 60)
    Shell.run("head -c 200000 /dev/urandom > '\(demo.store)'")
    let terminal = demo.open(width: 80, height: 24)
    let screen = terminal.screen(showing: "▸5 Rescue", "encrypted", "Nothing of the store")
    #expect(screen.contains("encrypted") && screen.contains("Nothing of the store"), "\(screen)")
    terminal.send("s")
    let refused = terminal.screen(
      showing: "nothing of the store can be read", "s salvage: nothing of the store can be read")
    #expect(refused.contains("s salvage: nothing of the store can be read"), "\(refused)")
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
  }

  @Test(
    "what was deleted is looked at in Browse, and restored into a new store",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func deleted() throws {
    let demo = InterfaceDemo()
    let connection = try Connection(path: demo.store, mode: .readWrite)
    try connection.execute("PRAGMA secure_delete = OFF; DELETE FROM ZDRAFT")
    connection.close()
    let before = demo.sum
    let terminal = demo.open(width: 120, height: 36)
    _ = terminal.screen(showing: "2,060", "Amount/p1")
    terminal.send("D")
    let rows = terminal.screen(
      showing: "Deleted and older", "origin", "Draft  62", "deleted  ", "Draft/p1 ─ deleted")
    #expect(rows.contains("deleted  ") && rows.contains("Draft/p1 ─ deleted"), "\(rows)")
    terminal.send("B")
    _ = terminal.screen(showing: "every deleted Draft that was found (62)")
    terminal.send("Enter")
    let question = terminal.screen(
      showing: "Restore into", "Recipes-undeleted.sqlite", "and every deleted")
    #expect(question.contains("and every deleted"), "\(question)")
    terminal.send("Enter")
    _ = terminal.screen(showing: "Restore into a new store?", "On disk")
    #expect(!demo.names.contains("Recipes-undeleted.sqlite"))
    terminal.send("y")
    let report = terminal.screen(showing: "report", "62 deleted objects restored", "+ Draft")
    #expect(report.contains("+ Draft"), "\(report)")
    terminal.send("Enter")
    let new = terminal.screen(
      showing: "Recipes-undeleted.sqlite", "▸1 Browse", "Draft              62")
    #expect(new.contains("Draft              62"), "\(new)")
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
    #expect(demo.sum == before)
  }

  @Test("what needs no choice is put right in the store itself, and the old one stays beside it")
  func repaired() throws {
    let demo = InterfaceDemo()
    let connection = try Connection(path: demo.store, mode: .readWrite)
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
    connection.close()
    let terminal = demo.open()
    _ = terminal.screen(showing: "2,060", "Amount/p1")
    terminal.send("5")
    let findings = terminal.screen(showing: "primary-key", "f: repair it", "2,060", "f fix")
    #expect(findings.contains("f fix"), "\(findings)")
    terminal.send("f")
    _ = terminal.screen(showing: "Repair", "everything that needs no decision: primary-key")
    terminal.send("Enter")
    let question = terminal.screen(
      showing: "Repair Recipes.sqlite?", "Recipes.unrepaired-1", "On disk")
    #expect(question.contains("Recipes.unrepaired-1"), "\(question)")
    #expect(!demo.names.contains("unrepaired"))
    terminal.send("y")
    let receipt = terminal.screen(
      showing: "repaired", "Amount.Z_MAX: 1 → 2060", "unrepaired-1", "✓ primary-key")
    #expect(receipt.contains("✓ primary-key"), "\(receipt)")
    terminal.send("Escape")
    let after = terminal.screen(
      showing: "what is wrong", "what can be recovered", "2,060", without: ["✗"])
    #expect(after.contains("what is wrong") && !after.contains("✗"), "\(after)")
    terminal.send("q")
    #expect(terminal.screen(showing: "EXIT 0").contains("EXIT 0"))
    #expect(demo.names.contains("Recipes.unrepaired-1"))
  }
}
