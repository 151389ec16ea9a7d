/// A screen by its place: the number is the key that leads to it.
package struct Screen: Sendable, Hashable, CaseIterable {
  /// Every screen there is, in the order of their keys.
  static let all: [any ScreenContent] = [
    BrowseScreen(), DiffScreen(), MappingScreen(), MigrateScreen(), RescueScreen(),
  ]

  /// The choice of a store, which has no key: it is there while no store is.
  static let files = Screen(0)

  /// The key that leads to it; 0 where none does.
  package let rawValue: Int

  private init(_ rawValue: Int) { self.rawValue = rawValue }

  /// The screen of a key; `nil` where none has it.
  package init?(rawValue: Int) {
    guard Self.all.indices.contains(rawValue - 1) else { return nil }
    self.rawValue = rawValue
  }

  init<Content: ScreenContent>(_ type: Content.Type) {
    rawValue = (Self.all.firstIndex { $0 is Content } ?? -1) + 1
  }

  /// Those that have a key, in their order.
  package static var allCases: [Screen] { all.indices.map { Screen($0 + 1) } }

  private var type: any ScreenContent.Type {
    self == .files ? PickerScreen.self : Swift.type(of: Self.all[rawValue - 1])
  }

  /// Its name in the header, the help and the configuration.
  package var title: String { type.title }
  var command: String? { type.command }
}

/// What the screens remember, in their order.
struct Screens: Sendable, Equatable {
  private var all = Screen.all

  /// One that has a key.
  subscript(screen: Screen) -> any ScreenContent {
    get { all[screen.rawValue - 1] }
    set { all[screen.rawValue - 1] = newValue }
  }

  subscript<Content: ScreenContent>(type: Content.Type) -> Content {
    self[Screen(type)] as? Content ?? Content()
  }

  /// What a screen has going on with the store; `nil` where nothing runs.
  var work: String? { all.lazy.compactMap(\.work).first }

  /// What the header says on every screen while something is going on.
  var badge: String? { all.lazy.compactMap(\.badge).first }

  static func == (left: Screens, right: Screens) -> Bool {
    zip(left.all, right.all).allSatisfy { $0.isEqual(to: $1) }
  }
}

extension Screen {
  /// Entities, rows and properties.
  package static let browse = Screen(BrowseScreen.self)
  /// Two versions side by side.
  package static let diff = Screen(DiffScreen.self)
  /// What a migration would do.
  package static let mapping = Screen(MappingScreen.self)
  /// The migration itself.
  package static let migrate = Screen(MigrateScreen.self)
  /// What is wrong with the store, and what can be done.
  package static let rescue = Screen(RescueScreen.self)
}

/// Those that are asked for by name.
extension State {
  var browse: BrowseScreen {
    get { self[BrowseScreen.self] }
    set { self[BrowseScreen.self] = newValue }
  }
  var diff: DiffScreen {
    get { self[DiffScreen.self] }
    set { self[DiffScreen.self] = newValue }
  }
  var mapping: MappingScreen {
    get { self[MappingScreen.self] }
    set { self[MappingScreen.self] = newValue }
  }
  var migrate: MigrateScreen {
    get { self[MigrateScreen.self] }
    set { self[MigrateScreen.self] = newValue }
  }
  var rescue: RescueScreen {
    get { self[RescueScreen.self] }
    set { self[RescueScreen.self] = newValue }
  }
}
