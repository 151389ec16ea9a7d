import ManagedModel
import Terminal
import Testing

@testable import Comparison
@testable import Interface
@testable import ManagedStore
@testable import StoreTables
@testable import Watching

/// Issue 30, point 1: a store that an app saved to stood still on the screen.
@Suite("A store that another program saves to")
struct RefreshingTests {
  /// A session at recipe 31, read at 12:04; from now on titles are others, and recipe 33 is gone.
  private static func session(
    _ mode: RefreshMode = .live, width: Int = 120, height: Int = 30
  ) throws -> Session {
    var session = try Session(width: width, height: height)
    session.state.known.refreshMode = mode
    try session.send(.clock("12:04:11"))
    try session.send("^R")
    // With rows in sight on both sides.
    for _ in 1...40 { try session.send("j") }
    for _ in 1...10 { try session.send("k") }
    session.otherAnswer = { effect in
      switch effect {
      case .refresh(let id): return [.answer(id, .opened(try SampleStore.summary()))]
      case .ask(let id, .rows(let query)) where query.entity == "Recipe":
        var page = SampleStore.page(query)
        page.rows.removeAll { $0.id.key == 33 }
        for index in page.rows.indices {
          page.rows[index].values[0] = .value(.string("Stew \(page.rows[index].id.key)"))
        }
        return [.answer(id, .rows(page))]
      default: return nil
      }
    }
    return session
  }

  private static func id(_ key: Int64) -> ObjectID {
    ObjectID(entity: key.isMultiple(of: 7) ? "Soup" : "Recipe", key: key)
  }

  private static func text(_ text: String) -> ObjectChange.Value {
    ObjectChange.Value(value: .value(.string(text)))
  }

  private static func update(_ key: Int64, _ old: String, _ new: String) -> ObjectChange {
    ObjectChange(
      kind: .update, a: id(key), b: id(key), label: new,
      attributes: [.init(path: ["title"], old: text(old), new: text(new))], relationships: [])
  }

  private static func delete(_ key: Int64) -> ObjectChange {
    ObjectChange(
      kind: .delete, a: id(key), b: nil, label: "Recipe number \(key)",
      attributes: [.init(path: ["title"], old: text("Recipe number \(key)"), new: nil)],
      relationships: [])
  }

  private static func insert(_ key: Int64) -> ObjectChange {
    ObjectChange(
      kind: .insert, a: nil, b: id(key), label: "New",
      attributes: [.init(path: ["title"], old: nil, new: text("New"))], relationships: [])
  }

  /// What a watch reports, then that the rows are to be read.
  private static func save(_ session: inout Session, _ changes: [ObjectChange]) throws {
    var save = ObservedSave(time: 0, saves: 1)
    save.changes = changes
    for entity in ["Recipe", "Soup"] {
      let own = changes.filter { $0.entity == entity }
      var count = ComparisonSummary.EntityCount(entity: entity)
      count.inserted = own.count { $0.kind == .insert }
      count.updated = own.count { $0.kind == .update }
      count.deleted = own.count { $0.kind == .delete }
      if count.count > 0 { save.counts.append(count) }
    }
    try session.send(.saved([SeenSave(save, time: "12:05:01")]))
    try session.send(.storeChanged(.saved(0)))
  }

  private static func line(_ session: Session, _ text: String) -> String {
    session.screen().description.split(separator: "\n").first { $0.contains(text) }
      .map(String.init) ?? ""
  }

  @Test("is read again where it stands, and its saves are counted")
  func live() throws {
    var session = try Self.session()
    let before = session.state.browse.table?.window
    #expect(Self.line(session, "Recipe number 31").contains("▌"))
    for _ in 1...2 { try session.send(.storeChanged(.saved(1))) }
    let after = session.state.browse.table?.window
    #expect(after?.selectedRow?.id == Self.id(31))
    #expect(after?.offset == before?.offset)
    #expect(Self.line(session, "Stew 31").contains("▌"))
    #expect(session.screen().description.contains("● 2 saves since 12:04"))
    #expect(session.state.notice == nil)
  }

  @Test("keeps its filter and its sort")
  func arrangement() throws {
    var session = try Self.session()
    try session.send("l", "l", "s", "/", "s", "o", "u", "p", "⏎")
    let view = session.state.browse.table?.view
    session.effects = []
    try session.send(.storeChanged(.saved(1)))
    #expect(session.state.browse.table?.view == view)
    let queries = session.effects.compactMap { effect -> RowQuery? in
      if case .ask(_, .rows(let query)) = effect { query } else { nil }
    }
    #expect(queries.first?.filter == session.state.browse.table?.rowFilter)
    #expect(queries.first?.sort.property == "title")
  }

  @Test("shows what changed by signs that need no colour, until ^R")
  func marks() throws {
    var session = try Self.session()
    try Self.save(
      &session, [Self.update(31, "Recipe number 31", "Stew 31"), Self.insert(32), Self.delete(33)])
    #expect(Self.line(session, "Stew 31").contains("▌~"))
    #expect(Self.line(session, "Stew 32").contains("+"))
    let deleted = Self.line(session, "Recipe number 33")
    #expect(deleted.contains("−") && deleted.contains("──"))
    let text = session.screen().description
    #expect(text.contains("~ Recipe number 31 → "))
    #expect(text.contains("Recipe/p31 ─ ~ changed"))
    try session.send("^R")
    let cleared = session.screen().description
    #expect(!cleared.contains("~") && !cleared.contains("● "))
    #expect(!cleared.contains("Recipe number 33"))
  }

  /// Counts readings that fail.
  private final class Failures {
    var left: Int
    init(_ count: Int) { left = count }
  }

  @Test("is read once more where a program was writing, not for ever", arguments: [1, 3, 1_000])
  func failedReading(failures: Int) throws {
    var session = try Self.session()
    let (others, rest) = (session.otherAnswer, Failures(failures))
    session.otherAnswer = { effect in
      if case .ask(let id, .rows) = effect, rest.left > 0 {
        rest.left -= 1
        return [.failed(id, CoreDataError(.failed, "database is locked"))]
      }
      return try others?(effect)
    }
    session.effects = []
    try session.send(.storeChanged(.saved(1)))
    let openings = session.effects.count { if case .refresh = $0 { true } else { false } }
    #expect(openings == min(failures, 20) + 1)
    #expect(Self.line(session, "Stew 31").isEmpty == (failures > 20))
    #expect(session.state.notice == nil)
  }

  @Test("lists what was saved before the first look as soon as it is known, counted once")
  func firstLook() throws {
    var session = try Self.session()
    try session.send("C")
    #expect(session.screen().description.contains("the store is being copied"))
    try session.send(.watched(CoreDataError(.unreadable, "no room")))
    #expect(session.screen().description.contains("saves are counted, not listed: no room"))
    try session.send(.watched(nil))
    #expect(session.screen().description.contains("no other program saved since"))
    try session.send(.storeChanged(.saved(2)))
    #expect(session.screen().description.contains("what 2 saves changed is not known"))
    var save = ObservedSave(time: 0, saves: 1)
    save.changes = [Self.update(40, "a", "b")]
    try session.send(.saved([SeenSave(save, time: "12:05:01", isCounted: true)]))
    let text = session.screen().description
    #expect(text.contains("● 2 saves since 12:04") && text.contains("~ Recipe/p40"))
    #expect(text.contains("what 1 save changed is not known"))
    try session.send(.saved([SeenSave(save, time: "12:05:02", isCounted: true)]))
    #expect(!session.screen().description.contains("is not known"))
  }

  @Test("says that saves come faster than they can be listed, and keeps their count")
  func late() throws {
    var session = try Self.session()
    try session.send("C")
    try session.send(.watched(nil))
    try session.send(.late(true))
    var text = session.screen().description
    #expect(text.contains("● changed since 12:04"))
    #expect(text.contains("saves come too fast to be listed now"))
    #expect(!text.contains("no other program saved"))
    try session.send(.saved([SeenSave(ObservedSave(time: 0, saves: 3), time: "12:05:01")]))
    text = session.screen().description
    #expect(text.contains("● more than 3 saves since 12:04"))
    try session.send(.late(false))
    text = session.screen().description
    #expect(text.contains("● 3 saves since 12:04") && !text.contains("too fast"))
  }

  @Test("has as many objects as were inserted and deleted")
  func counts() throws {
    var session = try Self.session()
    let former = session.state.browse.ownCounts["Recipe"] ?? 0
    try Self.save(&session, [Self.insert(32), Self.insert(34), Self.delete(33)])
    #expect(former > 0 && session.state.browse.ownCounts["Recipe"] == former + 1)
  }

  @Test("stays as it is until ^R, marked, where the settings say so")
  func mark() throws {
    var session = try Self.session(.mark)
    session.effects = []
    try Self.save(&session, [Self.update(31, "Recipe number 31", "Stew 31")])
    #expect(Self.line(session, "Recipe number 31 ").contains("▌~"))
    #expect(
      !session.effects.contains {
        if case .ask(_, .rows) = $0 { true } else { false }
      })
  }

  @Test("shows the new values of the selected object where rows are only marked")
  func markInspected() throws {
    var session = try Self.session(.mark)
    session.effects = []
    try Self.save(&session, [Self.update(40, "a", "b")])
    let isRead = { (effects: [Effect]) in
      effects.contains { if case .ask(_, .object(Self.id(31))) = $0 { true } else { false } }
    }
    #expect(!isRead(session.effects))
    try Self.save(&session, [Self.update(31, "Recipe number 31", "Stew 31")])
    #expect(isRead(session.effects))
  }

  @Test("strikes a deleted row that is not read again, where the settings say so")
  func markDeleted() throws {
    var session = try Self.session(.mark)
    try Self.save(&session, [Self.delete(33), Self.insert(90)])
    let deleted = Self.line(session, "Recipe number 33")
    #expect(deleted.contains("−") && deleted.contains("──"))
    #expect(session.screen().description.contains("● 1 save"))
    try session.send("^R")
    #expect(!session.screen().description.contains("Recipe number 33"))
  }

  @Test("is only reported where the settings say so")
  func ask() throws {
    var session = try Self.session(.ask)
    session.effects = []
    try Self.save(&session, [Self.update(31, "Recipe number 31", "Stew 31")])
    #expect(session.effects.isEmpty)
    #expect(session.state.notice?.text.contains("^R reads it again") == true)
    #expect(session.screen().description.contains("! changed: ^R"))
    #expect(!Self.line(session, "Recipe number 31").contains("~"))
  }

  @Test("is read once more where it was saved to while it was read")
  func behind() throws {
    var session = try Self.session()
    session.answers = false
    session.effects = []
    for _ in 1...3 { try session.send(.storeChanged(.saved(1))) }
    #expect(session.effects.count == 1)
    guard case .refresh(let task)? = session.effects.first else {
      Issue.record("it is not read again")
      return
    }
    session.effects = []
    try session.send(.answer(task, .opened(SampleStore.summary())))
    #expect(
      session.effects.contains { if case .refresh(let id) = $0 { id != task } else { false } })
  }

  @Test("keeps the selection near where its object was deleted")
  func deletedSelection() throws {
    var session = try Self.session()
    try session.send("j", "j")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 33)
    // Nothing says that it was deleted: it may be out of the filter.
    try session.send(.storeChanged(.saved(1)))
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 34)
  }

  @Test("strikes a deleted row also where the rows were read before the save was known")
  func readBeforeKnown() throws {
    var session = try Self.session()
    try session.send("j", "j")
    let before = session.state.browse.table?.window
    #expect(before?.selectedRow?.id.key == 33)
    try session.send(.storeChanged(.saved(0)))
    #expect(!session.screen().description.contains("Recipe number 33"))
    var save = ObservedSave(time: 0, saves: 1)
    save.changes = [Self.delete(33)]
    try session.send(.saved([SeenSave(save, time: "12:05:01")]))
    let deleted = Self.line(session, "Recipe number 33")
    #expect(deleted.contains("−") && deleted.contains("──"))
    let after = session.state.browse.table?.window
    #expect(after?.selectedRow?.id.key == 33 && after?.offset == before?.offset)
    #expect(session.screen().description.contains("Recipe/p33 ─ − deleted"))
    // Read once more, it stays; with ^R it goes.
    try session.send(.storeChanged(.saved(0)))
    #expect(Self.line(session, "Recipe number 33").contains("−"))
    try session.send("^R")
    #expect(!session.screen().description.contains("Recipe number 33"))
  }

  @Test("is the same with two changes of an object as with one of both")
  func together() {
    let both = Self.update(1, "a", "b").followed(by: Self.update(1, "b", "c"))
    #expect(both == Self.update(1, "a", "c"))
    #expect(Self.update(1, "a", "b").followed(by: Self.update(1, "b", "a")) == nil)
    #expect(Self.insert(1).followed(by: Self.delete(1)) == nil)
    #expect(Self.insert(1).followed(by: Self.update(1, "New", "b"))?.kind == .insert)
    let gone = Self.update(33, "a", "Recipe number 33").followed(by: Self.delete(33))
    #expect(gone?.kind == .delete && gone?.attributes.first?.old == Self.text("a"))
  }

  @Test("leads to the property that changed, and names the key of the list", arguments: [120, 80])
  func changedProperty(width: Int) throws {
    var session = try Self.session(width: width, height: width == 80 ? 24 : 30)
    #expect(!session.screen().description.contains("C what changed"))
    let changes = [Int64(31), 32].map { key in
      var change = Self.update(key, "", "")
      change.attributes = [
        .init(
          path: ["serves"], old: ObjectChange.Value(value: .value(.integer(1))),
          new: ObjectChange.Value(value: .value(.integer(2))))
      ]
      return change
    }
    try Self.save(&session, changes)
    #expect(session.screen().description.contains("C what changed"))
    // Where somebody looks at an object already, nothing moves.
    #expect(session.state.browse.inspector.object == Self.id(31))
    #expect(session.state.browse.inspector.selectedProperty == "title")
    try session.send("j")
    #expect(session.state.browse.inspector.object == Self.id(32))
    #expect(session.state.browse.inspector.selectedProperty == "serves")
  }

  @Test("lists its saves, and leads to their objects", arguments: [120, 80])
  func list(width: Int) throws {
    var session = try Self.session(width: width, height: width == 80 ? 24 : 30)
    try Self.save(&session, [Self.update(40, "Recipe number 40", "Stew 40"), Self.delete(33)])
    try session.send("C")
    let text = session.screen().description
    #expect(text.contains("▸saves") && !text.contains("prepared") && text.contains("against…"))
    #expect(text.contains("── 12:05:01  1 changed, 1 deleted"))
    #expect(text.contains("~ Recipe/p40  Stew 40  title: Recipe number 40 → Stew 40"))
    #expect(text.contains("− Recipe/p33"))
    try session.send("⏎")
    #expect(session.state.notice?.text.contains("it was deleted") == true)
    try session.send("d")
    #expect(session.screen().description.contains("− Recipe number 33"))
    try session.send("Esc", "k", "⏎")
    #expect(session.state.layers.isEmpty)
    #expect(session.effects.contains { Self.places($0, Self.id(40)) })
  }

  @Test("names the objects that a relationship led to and leads to, and its keys under ?")
  func links() throws {
    var session = try Self.session(width: 120, height: 30)
    var change = Self.update(40, "a", "b")
    let tags = (1...5).map { ObjectID(entity: "Tag", key: $0) }
    change.attributes = []
    change.relationships = [
      .init(name: "tags", added: tags, removed: [ObjectID(entity: "Tag", key: 9)])
    ]
    try Self.save(&session, [change])
    try session.send("C")
    #expect(
      session.screen().description.contains("tags: −Tag/p9 +Tag/p1 +Tag/p2 +Tag/p3 +2 more"),
      "\(session.screen())")
    try session.send("d")
    let detail = session.screen().description
    for text in ["−Tag/p9", "+Tag/p1", "+Tag/p5"] { #expect(detail.contains(text), "\(detail)") }
    try session.send("Esc", "?")
    let help = session.screen().description
    #expect(help.contains("This popup") && help.contains("since this save"), "\(help)")
    try session.send("Esc")
    #expect(session.screen().description.contains("What changed"))
  }

  @Test("sums up what changed since a chosen save, an object once", arguments: [120, 80])
  func since(width: Int) throws {
    var session = try Self.session(width: width, height: width == 80 ? 24 : 30)
    try session.send("C", "s")
    #expect(session.state.notice?.text.contains("no other program saved yet") == true)
    try session.send("Esc")
    try Self.save(&session, [Self.update(40, "first", "second")])
    try Self.save(&session, [Self.update(40, "second", "third"), Self.insert(41)])
    try Self.save(
      &session,
      [Self.update(40, "third", "fourth"), Self.update(45, "x", "y"), Self.delete(33)])
    var gone = Self.delete(41)
    gone.attributes[0].old = Self.text("New")
    try Self.save(&session, [gone, Self.update(45, "y", "x")])
    try session.send("C", "g", "j", "j", "s")
    let text = session.screen().description
    #expect(text.contains("── since 12:05:01  3 saves  1 changed, 1 deleted"))
    #expect(text.contains("title: second → fourth") && text.contains("− Recipe/p33"))
    #expect(!text.contains("p41") && !text.contains("p45") && !text.contains("first"))
    // What is saved meanwhile is added.
    try Self.save(&session, [Self.update(40, "fourth", "fifth")])
    #expect(session.screen().description.contains("title: second → fifth"))
    try session.send("j", "⏎")
    #expect(session.effects.contains { Self.places($0, Self.id(40)) })
    try session.send("C", "g", "j", "j", "s", "⌫")
    #expect(Self.line(session, "2 saves").isEmpty)
    #expect(Self.line(session, "1 inserted").contains("▌"))
    // The last save alone, and all of them.
    try session.send("G", "s")
    #expect(session.screen().description.contains("1 save  1 changed"))
    try session.send("⌫", "g", "s")
    #expect(session.screen().description.contains("title: first → fifth"))
  }

  @Test("knows of saves that together changed nothing")
  func sinceNothing() throws {
    var session = try Self.session()
    try Self.save(&session, [Self.update(40, "a", "b")])
    try Self.save(&session, [Self.update(40, "b", "a")])
    try session.send("C", "g", "s")
    #expect(session.screen().description.contains("2 saves  together they changed nothing"))
    try session.send("e")
    #expect(session.state.notice?.text.contains("there is nothing to export") == true)
  }

  private static func places(_ effect: Effect, _ id: ObjectID) -> Bool {
    if case .ask(_, .place(_, .object(let object))) = effect { object == id } else { false }
  }

  @Test("is compared with another file, whose objects are marked then")
  func against() throws {
    var session = try Self.session()
    var count = ComparisonSummary.EntityCount(entity: "Recipe")
    (count.inserted, count.updated) = (1, 2)
    let found = StoreDifferences(
      path: "Old.sqlite", counts: [count], changes: [Self.update(40, "Pie", "Recipe number 40")],
      notes: ["saves: the number of saves (Z_OPT) differs (3)"])
    let others = session.otherAnswer
    session.otherAnswer = { effect in
      switch effect {
      case .find(let id, .backups): return [.answer(id, .backups([]))]
      case .find(let id, .siblings):
        let sibling = FolderListing.Entry(
          name: "Copy.sqlite", path: "/data/Copy.sqlite", kind: .file, bytes: 4096,
          modified: "today")
        return [.answer(id, .siblings([sibling]))]
      case .find(let id, .recentStores):
        let recent = ["/data/Copy.sqlite", "Old.sqlite"].map {
          RecentStore(path: $0, opened: "yesterday", model: "Recipes")
        }
        return [.answer(id, .recentStores(recent))]
      case .compare(let id, with: "Old.sqlite"): return [.answer(id, .differs(found))]
      default: return try others?(effect)
      }
    }
    try session.send("C", "Tab")
    // What is in the store's folder comes first, and once.
    let offered = session.screen().description.split(separator: "\n").filter {
      $0.contains("beside it") || $0.contains("opened yesterday")
    }
    #expect(offered.count == 2, "\(offered)")
    #expect(offered.first?.contains("/data/Copy.sqlite  beside it, today") == true, "\(offered)")
    #expect(offered.last?.contains("Old.sqlite  opened yesterday") == true, "\(offered)")
    try session.send("j", "⏎")
    let text = session.screen().description
    #expect(text.contains("── Recipe  1 inserted, 2 changed") && text.contains("… and 2 more"))
    #expect(text.contains("saves: the number of saves"))
    // The first object is selected, not the line above it.
    try session.send("⏎")
    #expect(session.state.known.marks[Self.id(40)]?.kind == .update)
    // The list that was closed is what C shows again, and another file is chosen from there.
    try session.send("C")
    let again = session.screen().description
    #expect(again.contains("▸against…") && again.contains("── Recipe  1 inserted, 2 changed"))
    try session.send("⌫")
    #expect(session.screen().description.contains("Old.sqlite  opened yesterday"))
    try session.send("M")
    #expect(session.state.notice?.text.contains("compare with another store first") == true)
    try session.send("j", "j", "⏎", "O", "l", "d", "⏎")
    #expect(
      session.effects.contains { if case .compare(_, with: "Old") = $0 { true } else { false } })
  }

  @Test("x swaps old and new: what only the store has was inserted, or is missing from the other")
  func swapped() throws {
    var session = try Self.session()
    var count = ComparisonSummary.EntityCount(entity: "Recipe")
    (count.inserted, count.updated) = (1, 1)
    let found = StoreDifferences(
      path: "Old.sqlite", counts: [count],
      changes: [
        Self.update(40, "Pie", "Recipe number 40"), ObjectChange(.insert, of: Self.id(41)),
      ],
      notes: [])
    #expect(found.swapped.swapped == found)
    let others = session.otherAnswer
    session.otherAnswer = { effect in
      switch effect {
      case .find(let id, .backups): return [.answer(id, .backups([]))]
      case .find(let id, .siblings): return [.answer(id, .siblings([]))]
      case .find(let id, .recentStores):
        let recent = RecentStore(path: "Old.sqlite", opened: "yesterday", model: "Recipes")
        return [.answer(id, .recentStores([recent]))]
      case .compare(let id, with: "Old.sqlite"): return [.answer(id, .differs(found))]
      default: return try others?(effect)
      }
    }
    try session.send("C", "Tab", "x")
    #expect(session.state.notice?.text.contains("compare with another store first") == true)
    try session.send("⏎")
    #expect(session.screen().description.contains("OLD: Old.sqlite  NEW: the store as it is"))
    #expect(session.screen().description.contains("── Recipe  1 inserted, 1 changed"))
    try session.send("x")
    let text = session.screen().description
    #expect(text.contains("OLD: the store as it is  NEW: Old.sqlite"), "\(text)")
    #expect(text.contains("── Recipe  1 changed, 1 deleted"), "\(text)")
    #expect(text.contains("Recipe number 40 → Pie"), "\(text)")
    // What is “deleted” towards the other file is in the store, and Enter goes there.
    try session.send("j", "⏎")
    #expect(session.state.layers.isEmpty)
    #expect(session.state.known.marks[Self.id(41)]?.kind == .insert)
  }

  @Test("on an empty list the footer offers nothing that needs a line")
  func nothingChanged() throws {
    var session = try Self.session()
    try session.send("C")
    let footer = session.screen().row(session.state.size.height - 1)
    #expect(!footer.contains("go there") && !footer.contains("old and new"), "\(footer)")
    #expect(!footer.contains("since this save") && footer.contains("Tab"), "\(footer)")
  }

  @Test("has its changes written to a file, which is replaced only when asked twice")
  func export() throws {
    var session = try Self.session()
    try Self.save(&session, [Self.update(40, "Recipe number 40", "Stew 40")])
    try session.send("C", "e")
    #expect(session.screen().description.contains("1 change as CSV"))
    session.otherAnswer = { effect in
      guard case .writeChanges(let id, let file) = effect else { return nil }
      return file.replaces
        ? [.answer(id, .written(path: file.path))]
        : [.failed(id, CoreDataError(.refused, "The file exists: Enter again replaces it."))]
    }
    try session.send("⏎")
    #expect(session.screen().description.contains("The file exists"))
    try session.send("⏎")
    #expect(session.state.notice?.text == "1 change in changes.csv")
  }

  @Test("keeps as many objects of saves as have room, whatever else is counted")
  func bounded() throws {
    var session = try Self.session()
    for part in 0..<100 {
      let saves = (0..<100).map { save in
        let first = Int64((part * 100 + save) * 10)
        var seen = SeenSave(ObservedSave(time: 0, saves: 1), time: "12:05:00")
        seen.save.changes = (first..<first + 10).map { Self.update($0, "old", "new") }
        return seen
      }
      try session.send(.saved(saves))
    }
    let news = session.state.known.news
    #expect(news.count == 10_000 && news.forgotten + news.saves.count == 10_000)
    let weight = news.saves.reduce(0) { $0 + $1.weight }
    #expect(weight > 2_900 && weight <= 3_000)
    #expect(news.marks.count == 10_000)
    #expect(news.saves.last?.save.changes.last?.b?.key == 99_999)
  }

  @Test("cannot steer the terminal by what it is called or holds")
  func hostile() throws {
    var session = try Self.session()
    try Self.save(&session, [Self.update(31, "\u{1B}[2Jold\u{9B}31m", "new\u{7}\u{1B}]0;x\u{7}")])
    var screens = [session.screen().description]
    try session.send("C")
    screens.append(session.screen().description)
    try session.send("d")
    screens.append(session.screen().description)
    for text in screens {
      #expect(text.contains("old"))
      #expect(
        !text.unicodeScalars.contains {
          $0 != "\n" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value))
        })
    }
  }
}
