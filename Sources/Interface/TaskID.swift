/// Names one piece of work that was asked for, so that its answers can be told from older ones.
package struct TaskID: Sendable, Hashable {
  package let number: Int

  package init(_ number: Int) {
    self.number = number
  }
}
