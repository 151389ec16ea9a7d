/// What an entity and each of its properties have to compare.
protocol ComparedVersion {
  var name: String { get }
  var canonicalName: String { get }
  var renamingIdentifier: String? { get }
  var versionHashModifier: String? { get }
  var userInfo: [String: String] { get }
}

/// What attributes and relationships have to compare.
protocol ComparedProperty: ComparedVersion {
  var isTransient: Bool { get }
  var isOptional: Bool { get }
  /// The property's type and rules in a line.
  var summary: String { get }
}

extension Entity: ComparedVersion {}
extension Attribute: ComparedProperty {}
extension Relationship: ComparedProperty {}

/// Notes what differs between two versions of an entity or of a property.
struct PropertyNotes<Version: ComparedVersion> {
  private let old: Version
  private let new: Version
  /// `nil` for the entity itself.
  private let property: String?
  private let what: String
  /// Whether what the version hash is made of moves it.
  var movesHash = true
  var changes: [PropertyChange] = []

  init(_ old: Version, _ new: Version, property: String?, _ noun: String) {
    self.old = old
    self.new = new
    self.property = property
    what = property.map { "\(noun) “\($0.printable)”" } ?? noun
  }

  mutating func add(_ kind: PropertyChange.Kind, moves: Bool = false, _ description: String) {
    changes.append(
      PropertyChange(property: property, kind: kind, movesHash: moves, description: description))
  }

  /// Notes a value that is another one.
  mutating func compare<Value: Equatable>(
    _ path: KeyPath<Version, Value>, moves: Bool = false,
    _ kind: (Value, Value) -> PropertyChange.Kind, _ sentence: (Value, Value) -> String
  ) {
    let (before, after) = (old[keyPath: path], new[keyPath: path])
    if before != after { add(kind(before, after), moves: moves, sentence(before, after)) }
  }

  /// Notes a text that is another one: “class X became Y”.
  mutating func compare(
    _ path: KeyPath<Version, String?>, _ noun: String, moves: Bool = false,
    _ kind: (String?, String?) -> PropertyChange.Kind
  ) {
    let start = property == nil ? "" : what + ": "
    compare(path, moves: moves, kind) {
      "\(start)\(noun) \(Self.quoted($0)) became \(Self.quoted($1))"
    }
  }

  mutating func compareNames() {
    let start = property == nil ? "entity" : what
    compare(\.name, moves: movesHash, { former, _ in .renamed(from: former) }) { former, _ in
      "\(start) renamed from “\(former.printable)”"
    }
  }

  mutating func compareModifiers() {
    compare(
      \.versionHashModifier, "version hash modifier", moves: movesHash,
      PropertyChange.Kind.versionHashModifier)
  }

  mutating func compareIdentifiers() {
    compare(\.renamingIdentifier, "renaming identifier", PropertyChange.Kind.renamingIdentifier)
    if property == nil { compareUserInfo() }
  }

  /// What has nothing to do with values; it comes last.
  mutating func compareIdentity() {
    compareIdentifiers()
    compareModifiers()
    compareUserInfo()
  }

  private mutating func compareUserInfo() {
    let start = property == nil ? "" : what + ": "
    compare(\.userInfo, { _, _ in .userInfo }) { _, _ in start + "user info changed" }
  }

  fileprivate static func quoted(_ text: String?) -> String {
    text.map { "“\($0.printable)”" } ?? "none"
  }
}

extension PropertyNotes where Version: ComparedProperty {
  /// Notes what a property became: “… became optional”.
  fileprivate mutating func became(
    _ path: KeyPath<Version, Bool>, moves: Bool, _ yes: String, _ no: String,
    _ kind: (Bool) -> PropertyChange.Kind
  ) {
    compare(path, moves: moves, { kind($1) }) { [what] in "\(what) became \($1 ? yes : no)" }
  }

  /// Notes that something was switched on or off.
  fileprivate mutating func flag(
    _ path: KeyPath<Version, Bool>, moves: Bool = false, _ noun: String,
    _ kind: (Bool) -> PropertyChange.Kind
  ) {
    compare(path, moves: moves, { kind($1) }) { [what] in
      "\(what): \(noun) \($1 ? "switched on" : "switched off")"
    }
  }

  fileprivate mutating func compareOptional() {
    became(\.isOptional, moves: movesHash, "optional", "mandatory") { .optional($0) }
  }

  fileprivate mutating func compareTransient() {
    became(\.isTransient, moves: true, "transient", "persistent") { .transient($0) }
  }
}

extension PropertyNotes<Attribute> {
  /// Notes all but the elements and the identity.
  ///
  /// - Parameter isHashed: whether a derivation moves the version hash.
  mutating func compareAttributes(isHashed: Bool) {
    let what = what
    compareNames()
    compare(\.type, moves: movesHash, PropertyChange.Kind.type) {
      "\(what): type \($0.name) became \($1.name)"
    }
    compareOptional()
    compareTransient()
    compare(\.derivation, moves: isHashed, PropertyChange.Kind.derivation) {
      "\(what): derivation \(Self.quoted($0?.expression)) became \(Self.quoted($1?.expression))"
    }
    func text(_ value: AttributeValue?) -> String {
      Self.quoted(value.flatMap(DefaultValueText.text))
    }
    compare(\.defaultValue, PropertyChange.Kind.defaultValue) {
      "\(what): default \(text($0)) became \(text($1))"
    }
    flag(\.allowsExternalBinaryDataStorage, moves: movesHash, "external storage") {
      .externalStorage($0)
    }
    flag(\.preservesValueInHistoryOnDeletion, moves: movesHash, "keeping in history") {
      .preservedInHistory($0)
    }
    flag(\.allowsCloudEncryption, "cloud encryption") { .cloudEncryption($0) }
    flag(\.isIndexed, "its index") { .indexed($0) }
    flag(\.isIndexedBySpotlight, "Spotlight indexing") { .spotlight($0) }
    compare(
      \.valueTransformerName, "value transformer", PropertyChange.Kind.valueTransformer)
    compare(\.className, "class", PropertyChange.Kind.className)
    compare(\.validation, { _, _ in .validation }) { _, _ in "\(what): validation changed" }
  }
}

extension PropertyNotes<Relationship> {
  /// The changes of a relationship; a destination that was only renamed is reported as that.
  static func changes(
    from old: Relationship, to new: Relationship, _ entities: NameAlignment
  ) -> [PropertyChange] {
    var notes = PropertyNotes(old, new, property: new.name, "relationship")
    notes.movesHash = !(old.isTransient && new.isTransient)
    let (what, moves) = (notes.what, notes.movesHash)
    notes.compareNames()
    notes.compare(\.destination, moves: moves, PropertyChange.Kind.destination) { before, after in
      let verb = entities.destinations[before] == after ? "was renamed to" : "became"
      return "\(what): destination “\(before.printable)” \(verb) “\(after.printable)”"
    }
    notes.compare(\.inverse, "inverse", moves: moves, PropertyChange.Kind.inverse)
    notes.became(\.isToMany, moves: moves, "to-many", "to-one") { .toMany($0) }
    if old.isToMany == new.isToMany {
      notes.compare(\.maxCount, moves: moves, PropertyChange.Kind.maxCount) {
        "\(what): maximum count \($0) became \($1)"
      }
    }
    notes.compare(\.minCount, moves: moves, PropertyChange.Kind.minCount) {
      "\(what): minimum count \($0) became \($1)"
    }
    notes.became(\.isOrdered, moves: moves, "ordered", "unordered") { .ordered($0) }
    notes.compareOptional()
    notes.compareTransient()
    notes.compare(\.deleteRule, PropertyChange.Kind.deleteRule) {
      "\(what): delete rule \($0.name) became \($1.name)"
    }
    notes.flag(\.isIndexedBySpotlight, "Spotlight indexing") { .spotlight($0) }
    notes.compareIdentity()
    return notes.changes
  }
}
