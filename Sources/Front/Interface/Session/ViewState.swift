import ManagedStore
import Migration

/// What a person has arranged to see: undone step by step, and restored with the session.
///
/// Places (the selected row, the pane with the keys) are no part of it, since moving is undone by
/// moving.
struct ViewState: Codable, Sendable, Equatable {
  var browse = BrowseView()
  var diff = DiffView()
  var mapping = MappingView()
}

extension ViewState {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      browse: try values.value(.browse) ?? BrowseView(),
      diff: try values.value(.diff) ?? DiffView(),
      mapping: try values.value(.mapping) ?? MappingView())
  }
}

/// Which rows of which entity are seen, and how.
struct BrowseView: Codable, Sendable, Equatable {
  var entity: String?
  /// The tables that were arranged otherwise than they come, by entity.
  var tables: [String: TableView] = [:]
  /// Filters that were used, by entity, the newest last. Going back takes none of them away.
  var filters: [String: [String]] = [:]
  /// The attribute that labels an entity's objects where one was chosen; empty for their keys.
  var labels: [String: String] = [:]
}

extension BrowseView {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      entity: try values.value(.entity), tables: try values.value(.tables) ?? [:],
      filters: try values.value(.filters) ?? [:], labels: try values.value(.labels) ?? [:])
  }
}

/// How two versions are compared.
struct DiffView: Codable, Sendable, Equatable {
  var showsOnlyChanges = false
  /// Entities whose properties are hidden.
  var folded: Set<String> = []
}

extension DiffView {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      showsOnlyChanges: try values.value(.showsOnlyChanges) ?? false,
      folded: try values.value(.folded) ?? [])
  }
}

/// What was changed of the mappings by hand.
struct MappingView: Codable, Sendable, Equatable {
  /// By the path of the version that they lead to.
  var edits: [String: MappingEdits] = [:]
}

extension State {
  var view: ViewState {
    ViewState(browse: browse.view, diff: diff.view, mapping: mapping.view)
  }

  /// Arranges everything as it was; what no longer fits the store is left as it is.
  mutating func arrange(_ view: ViewState) -> [Effect] {
    diff.arrange(view.diff)
    return on(BrowseScreen.self) { $0.arrange(view.browse, in: &$1) }
      + on(MappingScreen.self) { $0.arrange(view.mapping, in: &$1) }
  }
}

/// What two arrangements differ in, in words: to say what was undone.
enum ViewChange {
  static func words(from old: ViewState, to new: ViewState) -> String {
    var (old, new) = (old, new)
    // A table that is not there is one that is as it comes.
    for entity in Set(old.browse.tables.keys).union(new.browse.tables.keys) {
      old.browse.tables[entity] = old.browse.tables[entity] ?? TableView()
      new.browse.tables[entity] = new.browse.tables[entity] ?? TableView()
    }
    let (before, after) = (leaves(of: old), leaves(of: new))
    let paths = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted {
      $0.joined(separator: ".") < $1.joined(separator: ".")
    }
    var words: [String] = []
    // Another entity brings its own arrangement; that alone is reported.
    if old.browse.entity != new.browse.entity {
      return "\(new.browse.entity ?? "no entity") is shown"
    }
    // `browse.tables.Recipe.sort…`
    let changes = paths.map { path in
      let table = path.firstIndex(of: "tables")
      return (entity: path.element(table.map { $0 + 1 }), field: path.element((table ?? -1) + 2))
    }
    let isSorted = changes.contains { $0.field == "sort" }
    // What was typed once is not undone, and the direction belongs to the sort.
    for (entity, field) in changes
    where field != "filters" && !(isSorted && field == "isDescending") {
      let name = field.map(phrase) ?? "arrangement"
      let word = entity.map { "\(name) of \($0)" } ?? name
      if !words.contains(word) { words.append(word) }
    }
    return words.joined(separator: ", ")
  }

  /// `showsOnlyChanges` as “only changes”.
  private static func phrase(_ name: String) -> String {
    var words = ""
    for character in name.hasPrefix("is") && name.count > 2 ? name.dropFirst(2) : name[...] {
      if character.isUppercase, !words.isEmpty { words.append(" ") }
      words += character.lowercased()
    }
    return words.hasPrefix("shows ") ? String(words.dropFirst(6)) : words
  }

  /// Each value under the names of the properties that lead to it.
  private static func leaves(of value: Any) -> [[String]: String] {
    var leaves: [[String]: String] = [:]
    collect(value, [], into: &leaves)
    return leaves
  }

  private static func collect(_ value: Any, _ path: [String], into leaves: inout [[String]: String])
  {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .struct?:
      for child in mirror.children {
        collect(child.value, path + [child.label ?? ""], into: &leaves)
      }
    case .dictionary?:
      for child in mirror.children {
        let pair = Array(Mirror(reflecting: child.value).children)
        guard pair.count == 2 else { continue }
        collect(pair[1].value, path + ["\(pair[0].value)"], into: &leaves)
      }
    default: leaves[path] = "\(value)"
    }
  }
}

/// How an entity's rows are seen.
struct TableView: Codable, Sendable, Equatable {
  /// Attribute or to-one that the rows are sorted by; the key without.
  var sort: String?
  var isDescending = false
  /// NSPredicate text; all rows without.
  var filter: String?
  /// Only what a relationship of one object references.
  var related: Relation?
  /// Key paths that were added as columns.
  var paths: [String] = []
  /// Ids of all columns, where they were moved.
  var order: [String]?
  var hidden: [String] = []
  /// Widths that a person chose, by column.
  var widths: [String: Int] = [:]
  /// Columns at the left that stay when the others scroll.
  var frozen = 1
}

extension TableView {
  /// A session of an older version lacks what came later.
  init(from decoder: any Decoder) throws {
    self.init()
    let values = try decoder.container(keyedBy: CodingKeys.self)
    sort = try values.value(.sort)
    isDescending = try values.value(.isDescending) ?? isDescending
    filter = try values.value(.filter)
    related = try values.value(.related)
    paths = try values.value(.paths) ?? paths
    order = try values.value(.order)
    hidden = try values.value(.hidden) ?? hidden
    widths = try values.value(.widths) ?? widths
    frozen = try values.value(.frozen) ?? frozen
  }
}

extension KeyedDecodingContainer {
  /// A value that an older version may not have written.
  func value<Value: Decodable>(_ key: Key) throws -> Value? {
    try decodeIfPresent(Value.self, forKey: key)
  }
}

/// A relationship of one object.
struct Relation: Codable, Sendable, Hashable {
  /// `Person/p3`
  var object: String
  var relationship: String

  init(_ object: ObjectID, _ relationship: String) {
    self.object = object.description
    self.relationship = relationship
  }

  var id: ObjectID? { ObjectID(object) }
}

/// Where a person was in a store and how it was arranged, for the next time.
package struct SavedSession: Codable, Sendable, Equatable {
  var view = ViewState()
  var screen = Screen.browse.rawValue
  /// The selected row, such as `Recipe/p12`.
  var row: String?
  var dividers = Dividers()
  var palette = PaletteMemory()
  /// The version to migrate to, where one was chosen.
  var target: ChosenVersion?
}

extension SavedSession {
  /// What another version of the program left out or wrote otherwise comes as it would again.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    view = (try? values.value(.view)) ?? view
    screen = (try? values.value(.screen)) ?? screen
    row = try? values.value(.row)
    dividers = (try? values.value(.dividers)) ?? dividers
    palette = (try? values.value(.palette)) ?? palette
    target = try? values.value(.target)
  }
}

extension State {
  /// How the store is seen now, for the next time.
  package var saved: SavedSession {
    // Of the store itself, whatever is looked at.
    let browse = known.remains.isShown ? otherBrowse : browse
    return SavedSession(
      view: ViewState(browse: browse.view, diff: diff.view, mapping: mapping.view),
      screen: (screen == .rescue ? .browse : screen).rawValue,
      row: browse.table?.window.selectedRow?.id.description,
      dividers: known.dividers, palette: paletteMemory, target: mapping.chosen)
  }

  /// Has the store shown as it was left, once it is open.
  package mutating func restore(_ session: SavedSession) {
    restoring = session
    known.dividers = session.dividers
    paletteMemory = session.palette
  }

  /// The store is open: goes where it was left. The rows have the keys, whatever had them: keys do the
  /// same at the beginning of every session.
  mutating func takeUp() -> [Effect] {
    guard let session = restoring else { return [] }
    restoring = nil
    var effects = arrange(session.view)
    mapping.chosen = session.target
    mapping.chosen?.isTakenUp = true
    if let row = session.row.flatMap({ ObjectID($0) }) {
      effects = Effect.joined(effects, on(BrowseScreen.self) { $0.begin(at: row, in: &$1) })
    }
    screen = Screen(rawValue: session.screen) ?? .browse
    return effects
  }
}
