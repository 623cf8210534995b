; Blocks that are moved in one step. What is clear, and what is in place for good, follows from where the blocks are.
(define (domain stacking)
    (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions :existential-preconditions
        :universal-preconditions :conditional-effects :derived-predicates)
    (:types block)
    (:predicates
        (on ?x ?y - block)
        (on-table ?x - block)
        (wanted ?x ?y - block)
        (wanted-on-table ?x - block)
        (clear ?x - block)
        (in-place ?x - block)
    )
    (:derived (clear ?x - block)
        (forall (?y - block) (not (on ?y ?x)))
    )
    (:derived (in-place ?x - block)
        (or
            (and (on-table ?x) (wanted-on-table ?x))
            (exists (?y - block) (and (on ?x ?y) (wanted ?x ?y) (in-place ?y)))
        )
    )
    (:action move
        :parameters (?x ?to - block)
        :precondition (and (clear ?x) (clear ?to) (not (= ?x ?to)) (not (in-place ?x)))
        :effect (and
            (on ?x ?to) (not (on-table ?x))
            (forall (?y - block) (when (on ?x ?y) (not (on ?x ?y))))
        )
    )
    (:action move-to-table
        :parameters (?x - block)
        :precondition (and (clear ?x) (not (on-table ?x)))
        :effect (and
            (on-table ?x)
            (forall (?y - block) (when (on ?x ?y) (not (on ?x ?y))))
        )
    )
)
