(define (problem blocksworld-4-3562566140)
    (:domain blocksworld)
    (:objects
        b1 b2 b3 b4
    )
    (:init
        (arm-empty)
        (clear b4)
        (on b4 b1)
        (on b1 b3)
        (on b3 b2)
        (on-table b2)
    )
    (:goal (and
        (clear b2)
        (on-table b2)
        (clear b3)
        (on-table b3)
        (clear b1)
        (on b1 b4)
        (on-table b4)
    ))
)
