(define (domain ferry)
    (:requirements :negative-preconditions :strips :typing)
    (:types
        car location - object
    )
    (:predicates (at ?car - car ?loc - location)  (at-ferry ?loc - location)  (empty-ferry) (on ?car - car))
    (:action board
        :parameters (?car - car ?loc - location)
        :precondition (and (at ?car ?loc) (at-ferry ?loc) (empty-ferry))
        :effect (and (on ?car) (not (at ?car ?loc)) (not (empty-ferry)))
    )
     (:action debark
        :parameters (?car - car ?loc - location)
        :precondition (and (on ?car) (at-ferry ?loc))
        :effect (and (at ?car ?loc) (empty-ferry) (not (on ?car)))
    )
     (:action sail
        :parameters (?from - location ?to - location)
        :precondition (and (at-ferry ?from) (not (at-ferry ?to)))
        :effect (and (at-ferry ?to) (not (at-ferry ?from)))
    )
)
