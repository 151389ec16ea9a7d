import DataMasking
import ManagedModel
import ManagedStore

/// What is done with the values of a column.
enum ColumnTreatment {
  /// Numbers by their kind; texts by rules, and data by their kind.
  case replaced(NumberOrders.Kind?, TextRules?)
  /// Data that may be in a file, which is named behind a mark.
  case external
  /// Sixteen bytes.
  case uuid
  /// The same, but texts and data are as they are, and a file gets another name.
  case keptExternal
  /// A text of history or the mirror's tables: what Core Data itself writes stays.
  case systemText
  /// Data of the mirror's tables: numbers in archives stay.
  case systemData
}

/// A table whose values are replaced.
struct ReplacedTable {
  let name: String
  var columns: [(name: String, treatment: ColumnTreatment)]
  /// Columns that must be as they were.
  var untouched: [String]
}

/// Which tables and columns of a store hold what: the parts of an anonymization.
struct StoreColumns {
  /// Columns of Core Data's own in each table of objects.
  private static let system: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]

  private(set) var tables: [ReplacedTable] = []
  /// Tables of an app's own, those behind its virtual tables among them.
  private(set) var own: [String] = []
  /// R-trees that Core Data keeps of attributes.
  private(set) var trees: [RTreeIndex] = []
  /// Columns of derived attributes, with their tables and what computes them over the row `s`.
  private(set) var derived: [DerivedColumn] = []

  /// - Parameter kept: entities and attributes whose values stay.
  init(of store: Store, keeping kept: KeptProperties) {
    let database = store.database
    var known: Set<String> = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
    for table in store.schema.tables where database.contains(table.name) {
      known.insert(table.name)
      tables.append(Self.objects(table, store, kept))
      derived += store.derivedColumns(of: table).filter { !kept.contains($0.entity, $0.attribute) }
    }
    known.formUnion(store.schema.joins.map(\.name))
    trees = database.virtual.sorted().compactMap { RTreeIndex(named: $0, in: database) }
    for (name, columns) in database.tables.sorted(by: { $0.key < $1.key })
    where !known.contains(name) {
      let object = database.object(ofTable: name)
      if object.isSQLites || trees.contains(where: { $0.owns(table: name) }) { continue }
      if object.isCoreDatas || Self.isFormerMirrors(name) {
        tables.append(Self.system(name, columns))
      } else {
        own.append(name)
      }
    }
  }

  /// Tables of the mirror from before iOS 13.
  private static func isFormerMirrors(_ name: String) -> Bool { name.hasPrefix("ZNSCK") }

  private static func objects(
    _ table: StoreSchema.Table, _ store: Store, _ kept: KeptProperties
  ) -> ReplacedTable {
    var contents: [String: StoreSchema.Content] = [:]
    for column in table.columns { contents[column.name] = column.content }
    var result = ReplacedTable(name: table.name, columns: [], untouched: [])
    for column in store.database.tables[table.name] ?? [] {
      switch contents[column.name] {
      case .attribute(let entity, let name):
        let treatment = store.model.storedAttribute(named: name, of: entity).flatMap {
          self.treatment(of: $0, isKept: kept.contains(entity, name))
        }
        if let treatment {
          result.columns.append((column.name, treatment))
        } else {
          result.untouched.append(column.name)
        }
      case .some: result.untouched.append(column.name)
      case nil where system.contains(column.name): result.untouched.append(column.name)
      // An app's own, or one that a deferred migration has still to drop.
      case nil: result.columns.append((column.name, .replaced(.integer, nil)))
      }
    }
    return result
  }

  /// - Returns: `nil` where the values stay.
  private static func treatment(of attribute: Attribute, isKept: Bool) -> ColumnTreatment? {
    let isExternal = attribute.allowsExternalBinaryDataStorage
    guard !isKept else { return isExternal ? .keptExternal : nil }
    switch attribute.type {
    // A truth value has no other of its order.
    case .boolean: return .replaced(nil, nil)
    case .uuid: return .uuid
    case _ where isExternal: return .external
    case .string, .uri: return .replaced(.integer, TextRules(attribute))
    case .double: return .replaced(.double, nil)
    case .float: return .replaced(.float, nil)
    case .decimal: return .replaced(.decimal, nil)
    case .date: return .replaced(.date, nil)
    default: return .replaced(.integer, nil)
    }
  }

  /// A table of history or the mirror: keys, numbers and flags stay.
  private static func system(_ name: String, _ columns: [DatabaseTables.Column]) -> ReplacedTable {
    var result = ReplacedTable(name: name, columns: [], untouched: [])
    for column in columns {
      switch column.type.uppercased() {
      case _ where column.name.hasPrefix("ZTOMBSTONE"):
        result.columns.append((column.name, .replaced(.integer, nil)))
      // Which properties a save changed.
      case _ where name == "ACHANGE" && column.name == "ZCOLUMNS":
        result.untouched.append(column.name)
      case "VARCHAR": result.columns.append((column.name, .systemText))
      case "BLOB": result.columns.append((column.name, .systemData))
      case "TIMESTAMP", "FLOAT": result.columns.append((column.name, .replaced(.date, nil)))
      default: result.untouched.append(column.name)
      }
    }
    return result
  }

  /// Numbers of each kind that the rules and defaults of a model name.
  static func namedNumbers(of model: Model) -> [NumberOrders.Kind: NumberOrders.Named] {
    var named: [NumberOrders.Kind: NumberOrders.Named] = [:]
    for attribute in model.entities.flatMap({ $0.attributes.flatMap(leaves) })
    where attribute.type.isNumber || attribute.type == .date {
      guard case .replaced(let kind?, _) = treatment(of: attribute, isKept: false) else { continue }
      let rules = attribute.validation
      func number(_ text: String?) -> [Double] {
        text.flatMap(Double.init).flatMap { $0.isFinite ? [$0] : nil } ?? []
      }
      named[kind, default: .init()].minima += number(rules.minimum)
      named[kind, default: .init()].maxima += number(rules.maximum)
      var constants = rules.predicates.flatMap { text in
        ((try? Predicate(format: text))?.comparisons ?? []).flatMap {
          $0.left.numbers + $0.right.numbers
        }
      }
      switch attribute.defaultValue {
      case .integer(let value): constants.append(Double(value))
      case .double(let value), .date(let value): constants.append(value)
      case .decimal(let digits): constants += number(digits)
      default: break
      }
      named[kind, default: .init()].constants += constants.filter(\.isFinite)
    }
    return named
  }

  private static func leaves(of attribute: Attribute) -> [Attribute] {
    attribute.type == .composite ? attribute.elements.flatMap(leaves) : [attribute]
  }
}

extension RTreeIndex {
  /// Whether a table is the virtual one, or one of the three that it keeps its content in.
  fileprivate func owns(table: String) -> Bool {
    table == name || ["node", "rowid", "parent"].contains { table == "\(name)_\($0)" }
  }
}

/// Attributes whose values stay, as a person named them.
package struct KeptProperties: Sendable {
  /// `ENTITY.PROPERTY`, of the entity that declares the attribute.
  private var names: Set<String> = []
  /// The same in order, for the report.
  package private(set) var list: [String] = []

  /// - Parameter words: `ENTITY.PROPERTY`; an inherited attribute, or a whole composite one, will do.
  /// - Throws: ``CoreDataError`` of kind usage for what is no attribute of the model.
  package init(_ words: [String], in model: Model) throws(CoreDataError) {
    for word in words {
      guard let dot = word.firstIndex(of: ".") else {
        throw CoreDataError(
          .usage, "--keep takes ENTITY.PROPERTY, not “\(word.printable)”",
          hint: "Name an attribute, such as Recipe.title.")
      }
      let (entity, name) = (String(word[..<dot]), String(word[word.index(after: dot)...]))
      guard model.entity(named: entity) != nil else {
        throw CoreDataError(
          unknownEntity: entity, of: "the store", known: model.entities.map(\.name))
      }
      let attributes = model.attributes(of: entity).filter(\.isStored)
      let known = attributes.flatMap { [$0.name] + $0.storage.columns.map(\.attribute.name) }
      guard known.contains(name) else {
        throw CoreDataError(
          unknown: "attribute", name, of: entity, known: Array(Set(known)).sorted())
      }
      let first = name.split(separator: ".").first.map(String.init) ?? name
      let owner = model.declaringEntity(of: first, in: entity) ?? entity
      names.insert("\(owner).\(name)")
      if !list.contains(word) { list.append(word) }
    }
  }

  /// Whether the values of an attribute, or of an element of a composite one, stay.
  func contains(_ entity: String, _ name: String) -> Bool {
    var parts = name.split(separator: ".")
    while !parts.isEmpty {
      if names.contains("\(entity).\(parts.joined(separator: "."))") { return true }
      parts.removeLast()
    }
    return false
  }
}
