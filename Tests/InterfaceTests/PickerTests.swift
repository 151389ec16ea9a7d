import ManagedModel
import Terminal
import Testing

@testable import Interface

@Suite("Choosing a store")
struct PickerTests {
  private static let listing = FolderListing(
    path: "/home/ann", parent: "/home",
    entries: [
      .init(name: ".cache", path: "/home/ann/.cache", kind: .folder),
      .init(name: "Apps", path: "/home/ann/Apps", kind: .folder),
      .init(name: "App.sqlite", path: "/home/ann/App.sqlite", kind: .file, bytes: 12_000),
      .init(name: "other.db", path: "/home/ann/other.db", kind: .file, bytes: 4_000),
      .init(name: "notes.txt", path: "/home/ann/notes.txt", kind: .file, bytes: 10),
    ])
  private static let peeks: [String: StorePeek] = [
    "/home/ann/App.sqlite": .store(entities: 9), "/home/ann/other.db": .database,
    "/home/ann/notes.txt": .nothing, "/home/ann/Apps": .folder(stores: 2, models: 0),
  ]

  private struct Scene {
    var state: State
    var effects: [Effect] = []

    init(recent: [RecentStore] = []) {
      state = State(storePath: "", size: Size(width: 90, height: 20), themeName: "mono")
      state.picker = PickerScreen(folder: ".", home: "/home/ann")
      send(.start)
      for effect in effects {
        switch effect {
        case .find(let id, .recentStores): send(.answer(id, .recentStores(recent)))
        case .find(let id, .folder):
          send(.answer(id, .folder(listing)))
          send(.answer(id, .peeked(peeks)))
        default: break
        }
      }
    }

    mutating func send(_ message: Message) { effects += update(&state, message) }

    mutating func press(_ names: String...) throws {
      for name in names { send(.key(try #require(Key(name: name)))) }
    }

    var text: String {
      var grid = Grid(state.size)
      draw(state, with: .mono, in: &grid)
      return grid.description
    }
  }

  @Test("where there are simulators, they are the first that can be chosen")
  func simulators() throws {
    var state = State(storePath: "", size: Size(width: 90, height: 20), themeName: "mono")
    let path = "/home/ann/Library/Developer/CoreSimulator/Devices"
    state.picker = PickerScreen(folder: ".", home: "/home/ann", simulators: path)
    for effect in update(&state, .start) {
      if case .find(let id, .folder) = effect {
        _ = update(&state, .answer(id, .folder(Self.listing)))
      }
    }
    let first = try #require(state.picker?.lines.first)
    #expect(first.path == path)
    _ = update(&state, .key(.home))
    let effects = update(&state, .key(.enter))
    #expect(
      effects.contains {
        if case .find(_, .folder(path)) = $0 { true } else { false }
      })
  }

  @Test("stores are marked, what is none is left out, hidden files come with a dot")
  func marks() throws {
    var scene = Scene()
    #expect(scene.text.contains("✓ Core Data, 9 entities, 12 kB"))
    #expect(scene.text.contains("SQLite, 4 kB") || scene.text.contains("SQLite, 4.0 kB"))
    #expect(scene.text.contains("2 stores"))
    #expect(!scene.text.contains("notes.txt") && !scene.text.contains(".cache"))
    try scene.press(".")
    #expect(scene.text.contains(".cache"))
  }

  @Test(
    "an archive says what it is and is entered; a damaged store says so and is opened all the same")
  func containers() throws {
    var scene = Scene()
    try scene.press("~")
    guard case .find(let id, .folder)? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    scene.send(
      .answer(
        id,
        .folder(
          FolderListing(
            path: "/home/ann", parent: "/home",
            entries: [
              .init(name: "Backup.zip", path: "/home/ann/Backup.zip", kind: .folder),
              .init(name: "a/App.sqlite", path: "/x.zip//a/App.sqlite", kind: .file, bytes: 10),
            ]))))
    scene.send(
      .answer(
        id,
        .peeked([
          "/home/ann/Backup.zip": .container("a ZIP archive"),
          "/x.zip//a/App.sqlite": .damaged("damaged"),
        ])))
    #expect(scene.text.contains("a ZIP archive"))
    #expect(scene.text.contains("✗ damaged"))
    try scene.press("g", "⏎")
    guard case .find(_, .folder("/home/ann/Backup.zip"))? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    scene.send(.answer(id, .folder(Self.listing)))
  }

  @Test(
    "an encrypted backup is locked, asks for its password without showing it, and is read again")
  func locked() throws {
    var scene = Scene()
    let path = "/home/ann/Backup"
    try scene.press("~")
    guard case .find(let list, .folder)? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    scene.send(
      .answer(
        list,
        .folder(
          FolderListing(
            path: "/home/ann", parent: "/home",
            entries: [.init(name: "Backup", path: path, kind: .folder)]))))
    scene.send(.answer(list, .peeked([path: .locked("an iOS backup")])))
    #expect(scene.text.contains("locked: an iOS backup"))
    try scene.press("g", "⏎")
    guard case .find(let folder, .folder(path))? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    let backup = LockedBackup(path: path, parent: "/home/ann", name: "“Anna\u{1B}[2J”, iOS 18.1")
    scene.send(.answer(folder, .locked(backup)))
    #expect(scene.text.contains("Locked backup") && scene.text.contains("iOS 18.1"))
    #expect(!scene.text.contains("\u{1B}"))
    // Closed, Enter asks again.
    try scene.press("esc", "⏎")

    func type(_ text: String) { for letter in text { scene.send(.key(.character(letter))) } }
    type("pässeq?:")
    for _ in 0..<4 { scene.send(.key(.backspace)) }
    #expect(!scene.text.contains("pä"))
    #expect(scene.text.contains("••••") && !scene.text.contains("•••••"))
    try scene.press("⏎")
    guard case .unlock(let wrong, path, let password)? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    #expect(password == Secret(Array("päss".utf8)))
    let before = scene.text
    scene.send(.answer(wrong, .unlocking(0.5)))
    #expect(scene.text != before && !scene.text.contains("•"))
    scene.send(.failed(wrong, CoreDataError(.unreadable, "the password is wrong")))
    #expect(scene.text.contains("The password is wrong"))
    // Which password is meant stays in sight, and which backup.
    #expect(scene.text.contains("iOS 18.1") && scene.text.contains("passcode"))

    type("right")
    try scene.press("⏎")
    guard case .unlock(let right, path, _)? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    let count = scene.effects.count
    let inner = "AppDomain-com.example.recipes/Documents/App.sqlite"
    let store = path + "//" + inner
    let listing = FolderListing(
      path: path, parent: "/home/ann",
      entries: [.init(name: inner, path: store, kind: .file)])
    scene.send(.answer(right, .unlocked(listing, [store: .store(entities: 4)])))
    #expect(scene.state.layers.isEmpty)
    // The backup is read once: what opened it listed its stores.
    #expect(scene.effects.count == count)
    #expect(scene.text.contains("✓ Core Data, 4 entities"), "\(scene.text)")
    // Long paths have the room that facts leave: the app is at their beginning.
    #expect(scene.text.contains("│▌ \(inner)  "), "\(scene.text)")
    #expect(!scene.text.contains("locked"))
    try scene.press("⏎")
    #expect(scene.effects.last == .choose(store))
  }

  @Test("a key that is derived can be called off, and the password is asked for again")
  func unlockingStopped() throws {
    var scene = Scene()
    guard
      case .find(let list, .folder)? = scene.effects.last(where: {
        if case .find(_, .folder) = $0 { true } else { false }
      })
    else {
      Issue.record("\(scene.effects)")
      return
    }
    scene.send(.answer(list, .locked(LockedBackup(path: "/b", parent: "/", name: ""))))
    scene.send(.key(.character("x")))
    try scene.press("⏎")
    guard case .unlock(let task, "/b", _)? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    try scene.press("esc")
    #expect(scene.effects.last == .cancel(task))
    scene.send(.failed(task, CoreDataError(.cancelled, "cancelled")))
    #expect(scene.text.contains("Locked backup"))
    try scene.press("esc")
    #expect(scene.state.layers.isEmpty)
    #expect(scene.text.contains("locked"))
  }

  @Test("the store is selected, and Enter opens it")
  func opening() throws {
    var scene = Scene()
    try scene.press("⏎")
    #expect(scene.effects.last == .choose("/home/ann/App.sqlite"))
  }

  private static let lately = [
    RecentStore(path: "/data/Recipes.sqlite", opened: "2026-11-20 10:00", model: "Recipes 2")
  ]

  @Test("this folder's store is chosen first, the stores of late come under their heading")
  func recent() throws {
    var scene = Scene(recent: Self.lately)
    #expect(scene.text.contains("▌ App.sqlite"))
    #expect(scene.text.contains("opened lately"))
    #expect(scene.text.contains("opened 2026-11-20 10:00  “Recipes 2”"))
    // The heading is passed over.
    try scene.press("j", "⏎")
    #expect(scene.effects.last == .choose("/data/Recipes.sqlite"))
    try scene.press("k", "⏎")
    #expect(scene.effects.last == .choose("/home/ann/App.sqlite"))
  }

  @Test("into a folder, up, and home")
  func folders() throws {
    var scene = Scene()
    try scene.press("g", "j", "→")
    guard case .find(_, .folder("/home/ann/Apps"))? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    try scene.press("~")
    guard case .find(let home, .folder("/home/ann"))? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    scene.send(.answer(home, .folder(Self.listing)))
    try scene.press("←")
    guard case .find(let id, .folder("/home"))? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
    scene.send(
      .answer(
        id,
        .folder(
          FolderListing(
            path: "/home", parent: "/",
            entries: [
              .init(name: "abe", path: "/home/abe", kind: .folder),
              .init(name: "ann", path: "/home/ann", kind: .folder),
            ]))))
    #expect(scene.text.contains("▌ ann/"))
  }

  @Test("typing after / narrows, and what is no store is refused with a word")
  func narrowing() throws {
    var scene = Scene()
    try scene.press("/", "o", "t", "h", "⏎")
    #expect(!scene.text.contains("App.sqlite"))
    try scene.press("⏎")
    #expect(scene.state.notice?.text.contains("not a Core Data store") == true)
    try scene.press("Esc")
    #expect(scene.text.contains("App.sqlite"))
  }

  @Test("a folder that cannot be read says so and leaves the way up")
  func unreadable() throws {
    var scene = Scene()
    try scene.press("g", "j", "→")
    let id = try #require(
      scene.effects.last.flatMap { effect -> TaskID? in
        if case .find(let id, .folder) = effect { id } else { nil }
      })
    scene.send(.failed(id, CoreDataError(.unreadable, "cannot list", path: "/home/ann/Apps")))
    #expect(scene.text.contains("✗") && scene.text.contains("cannot list"))
    try scene.press("h")
    guard case .find(_, .folder("/home/ann"))? = scene.effects.last else {
      Issue.record("\(scene.effects)")
      return
    }
  }

  @Test("the screens say that no store is open; help, palette and themes work")
  func others() throws {
    var scene = Scene()
    try scene.press("2")
    #expect(scene.state.notice?.text.contains("no store is open") == true)
    try scene.press("?")
    #expect(scene.text.contains("hidden files"))
    try scene.press("Esc", ":")
    #expect(scene.text.contains("Files"))
  }

  @Test("nothing traps on the smallest screens")
  func smallest() throws {
    var scene = Scene()
    for width in [0, 1, 2, 39, 40, 61] {
      for height in [0, 1, 2, 9, 10, 12] {
        scene.send(.resized(Size(width: width, height: height)))
        try scene.press("j", "k")
        _ = scene.text
      }
    }
  }
}
