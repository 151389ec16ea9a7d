import ManagedModel
import Migration

extension Loss {
  /// What is counted of it: `3 objects`, `1 value`.
  var counted: String {
    NumberText.counted(values, singular)
      + (misfit.map { " " + $0.clause } ?? "")
  }
}

extension [Loss] {
  /// What goes in all: `3 objects and 12 values`.
  var counted: String {
    let objects = filter { $0.property == nil }.reduce(0) { $0 + $1.values }
    let values = filter { $0.property != nil }.reduce(0) { $0 + $1.values }
    return [
      objects > 0 ? NumberText.counted(objects, "object") : nil,
      values > 0 ? NumberText.counted(values, "value") : nil,
    ].compactMap { $0 }.joined(separator: " and ")
  }
}

extension CoreDataError {
  /// `Recipe.title`, or the entity alone; empty where it names none.
  var place: String { [entity, property].compactMap { $0 }.joined(separator: ".") }
}
