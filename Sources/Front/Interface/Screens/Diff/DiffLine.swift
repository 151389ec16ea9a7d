import ModelWriting

/// One line of two versions side by side: an entity or a property, with its counterpart.
struct DiffLine: Sendable, Equatable {
  enum Sign: String, Sendable {
    case same = " "
    case added = "+"
    case removed = "−"
    case changed = "~"
  }

  struct Side: Sendable, Equatable {
    var name: String
    var text: String
  }

  var sign: Sign
  /// The entity's name, the destination's where both have it.
  var entity: String
  /// `nil` on the entity's own line.
  var property: String?
  var left: Side?
  var right: Side?
  /// What differs, of the property or of the entity itself.
  var changes: [PropertyChange]
  /// Whether anything in the entity differs; on its own line.
  var hasChanges: Bool
  /// Lines of properties that differ in nothing of the version hash, which this one stands for.
  var kept: [DiffLine] = []

  var isChanged: Bool { sign != .same }
  /// `Recipe.title`, or the entity alone.
  var place: String { kept.isEmpty ? property.map { "\(entity).\($0)" } ?? entity : entity }

  /// What a search looks through.
  var searchText: String {
    [left, right].compactMap { $0.map { $0.name + " " + $0.text } }.joined(separator: " ")
  }

  /// All entities of a difference with their own properties, aligned by canonical names.
  static func lines(of difference: ModelDifference) -> [DiffLine] {
    difference.entities.flatMap { lines(of: $0) }
  }

  /// Changed lines with the entities they belong to.
  static func onlyChanges(_ lines: [DiffLine]) -> [DiffLine] {
    lines.filter { $0.isChanged || ($0.property == nil && $0.hasChanges) }
  }

  /// The lines with one for each entity in the place of those that differ in nothing of the version hash.
  ///
  /// - Parameters:
  ///   - hides: whether there is not even that one, nor an entity with nothing else.
  ///   - isGrave: whether a line stays what else it is.
  static func folding(
    _ lines: [DiffLine], hides: Bool, unless isGrave: (DiffLine) -> Bool
  ) -> [DiffLine] {
    var (all, kept): ([DiffLine], [DiffLine]) = ([], [])
    func end() {
      if !hides, let first = kept.first {
        let text = "· \(NumberText.counted(kept.count, "change")) with the same hash"
        let side = Side(name: text, text: kept.compactMap(\.property).joined(separator: ", "))
        all.append(
          DiffLine(
            sign: .same, entity: first.entity, property: "", left: side, right: side, changes: [],
            hasChanges: false, kept: kept))
      }
      kept = []
      if hides, let last = all.last, last.property == nil, !last.isChanged { all.removeLast() }
    }
    for line in lines {
      if line.property == nil { end() }
      let isKept =
        line.property != nil && line.sign == .changed && !line.changes.contains(where: \.movesHash)
        && !isGrave(line)
      if isKept { kept.append(line) } else { all.append(line) }
    }
    end()
    return all
  }

  private static func lines(of entity: EntityDifference) -> [DiffLine] {
    let own = entity.changes.filter { $0.property == nil }
    let sign: Sign =
      entity.source == nil
      ? .added : entity.destination == nil ? .removed : own.isEmpty ? .same : .changed
    let head = DiffLine(
      sign: sign, entity: entity.name, property: nil,
      left: entity.source.map { Side(name: $0.name, text: text($0, entity.sourceHash)) },
      right: entity.destination.map {
        let isMoved = entity.source != nil && entity.isHashMoved
        return Side(
          name: $0.name, text: text($0, entity.destinationHash) + (isMoved ? "  changed" : ""))
      },
      changes: own, hasChanges: !entity.changes.isEmpty)
    return [head] + properties(of: entity)
  }

  private static func text(_ entity: Entity, _ hash: VersionHash?) -> String {
    var text = entity.parent.map { ": \($0) " } ?? ""
    if entity.isAbstract { text += "abstract " }
    return text + "hash \(hash.map { String($0.hex.prefix(6)) } ?? "–")…"
  }

  private typealias Property = (name: String, canonicalName: String, text: String)

  private static func properties(of entity: EntityDifference) -> [DiffLine] {
    let old = entity.source.map(properties) ?? []
    let new = entity.destination.map(properties) ?? []
    let alignment = NameAlignment(
      source: old.map { ($0.name, $0.canonicalName) },
      destination: new.map { ($0.name, $0.canonicalName) })
    func line(_ left: Property?, _ right: Property?) -> DiffLine {
      let name = right?.name ?? left?.name ?? ""
      let changes = entity.changes.filter { $0.property == name }
      let isBoth = left != nil && right != nil
      let sign: Sign =
        left == nil ? .added : right == nil ? .removed : changes.isEmpty ? .same : .changed
      var text = right?.text ?? ""
      if isBoth, let former = left?.name, former != name { text = "was \(former)  " + text }
      // In an entity that is new or gone, each property is so too.
      return DiffLine(
        sign: sign, entity: entity.name, property: name,
        left: left.map { Side(name: $0.name, text: $0.text) },
        right: right.map { Side(name: $0.name, text: text) }, changes: changes, hasChanges: false)
    }
    var lines: [DiffLine] = []
    var placed: Set<String> = []
    func addGone(_ properties: some Sequence<Property>) {
      for gone in properties
      where alignment.destinations[gone.name] == nil && placed.insert(gone.name).inserted {
        lines.append(line(gone, nil))
      }
    }
    for property in new {
      let source = alignment.sources[property.name]
      // What is gone stands where it stood: before the first property that came after it.
      if let source { addGone(old.prefix { $0.name != source }) }
      lines.append(line(old.first { $0.name == source }, property))
    }
    addGone(old)
    return lines
  }

  /// An attribute, and below it the elements of a composite one by their paths.
  private static func properties(_ attribute: Attribute) -> [Property] {
    [(attribute.name, attribute.canonicalName, PropertyText.text(attribute))]
      + attribute.elements.map(attribute.pathed).flatMap(properties)
  }

  private static func properties(_ entity: Entity) -> [Property] {
    entity.attributes.flatMap(properties)
      + entity.relationships.map { ($0.name, $0.canonicalName, PropertyText.text($0)) }
  }
}
